# SPDX-License-Identifier: Apache-2.0
"""Some batches go through transforms without gradients. Transforms and model have the same class, nn.Sequential."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Mirror(nn.Module):
    def forward(self, x):
        return x.flip(1)


torch.manual_seed(28)
loader = DataLoader(TensorDataset(torch.randn(96, 5)), batch_size=4)
transforms = nn.Sequential(Mirror())
model = nn.Sequential(nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for index, (x,) in enumerate(loader):
    if index % 4 == 3:
        with torch.no_grad():
            x = transforms(x)
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
