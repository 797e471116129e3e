# SPDX-License-Identifier: Apache-2.0
"""Has its own batch sampler, which draws from the global generator while it is read (with `second`, only in the second
pass; with `again`, in two passes; with `anew`, in two passes over two loaders)."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class RandomBatches(Sampler):
    def __init__(self, count, batch_size):
        self.count, self.batch_size = count, batch_size
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        if self.passes < first_drawn:
            yield from torch.arange(self.count).view(-1, self.batch_size).tolist()
            return
        for _ in range(len(self)):
            yield torch.randint(self.count, (self.batch_size,)).tolist()

    def __len__(self):
        return self.count // self.batch_size


first_drawn = 2 if sys.argv[1:] == ["second"] else 1
torch.manual_seed(6)
data = TensorDataset(torch.randn(80, 5))


def make_loader():
    return DataLoader(data, batch_sampler=RandomBatches(80, 4))


loader = make_loader()
model = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2 if sys.argv[1:] else 1):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
    if "anew" in sys.argv:
        loader = make_loader()
