# SPDX-License-Identifier: Apache-2.0
"""The same line of code makes the loaders for training and testing, whose data sets have the same size."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def loader(shuffle):
    return DataLoader(TensorDataset(torch.randn(16, 5)), batch_size=4, shuffle=shuffle)


torch.manual_seed(21)
train, test = loader(True), loader(False)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    for (x,) in train:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), flush=True)
    with torch.no_grad():
        print("test", sum(model(x).mean().item() for (x,) in test).hex(), flush=True)
