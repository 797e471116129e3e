# SPDX-License-Identifier: Apache-2.0
"""Processes are spawned, the data set holds a lambda, and `if __name__` is missing."""
import multiprocessing

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

multiprocessing.set_start_method("spawn", force=True)


class Lazy(Dataset):
    def __init__(self):
        self.make = lambda index: torch.full((5,), float(index))

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return self.make(index)


print("runs")
torch.manual_seed(11)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for x in DataLoader(Lazy(), batch_size=4, shuffle=True):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
