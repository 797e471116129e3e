# SPDX-License-Identifier: Apache-2.0
"""Rare habits: checks for torch before importing it, calls backward with an iterator, makes a loader for each pass, wraps a
data set that changes, validates first, and frees gradients itself."""
import importlib.util

assert importlib.util.find_spec("torch") is not None

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
from torch.utils.data import DataLoader, Dataset, Subset  # noqa: E402


class Growing(Dataset):
    def __init__(self):
        self.epoch = [0]

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1, 4, 4), float(index + 10 * self.epoch[0]))


torch.manual_seed(3)
data = Growing()
model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.LazyLinear(1))
with torch.no_grad():
    model(torch.zeros(2, 1, 4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for epoch in range(3):
    data.epoch[0] = epoch
    for batch in DataLoader(Subset(data, range(8)), batch_size=4, shuffle=True):
        optimizer.zero_grad(set_to_none=True)
        losses = [model(batch).pow(2).mean(), model(batch).abs().mean()]
        torch.autograd.backward(loss for loss in losses)
        optimizer.step()
        print("loss", losses[0].item(), batch.sum().item())
print("done")
