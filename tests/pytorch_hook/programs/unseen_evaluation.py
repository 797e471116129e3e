# SPDX-License-Identifier: Apache-2.0
"""Evaluates without a forward of a watched module: by a method of the model, or a copy of a part of it. The loader is kept or
made anew. `slow-start`: training passes start slowly."""
import copy
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(33)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(5, 3)
        self.decoder = nn.Linear(3, 5)

    def forward(self, x):
        return self.decoder(self.encoder(x).relu())

    @torch.no_grad()
    def generate(self, x):
        return self.decoder(self.encoder(x).relu())


class Rows(TensorDataset):
    items_read = 0

    def __getitem__(self, index):
        if "slow-start" in sys.argv and self.items_read % len(self) == 0:
            time.sleep(0.1)
        self.items_read += 1
        return super().__getitem__(index)


way = sys.argv[1]
train = DataLoader(Rows(torch.randn(24, 5)), batch_size=4, shuffle=True)
data = TensorDataset(torch.randn(15, 5))
test = DataLoader(data, batch_size=5)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def evaluate():
    if way == "copy":
        decoder = copy.deepcopy(model.decoder)
        return sum(decoder(x[:, :3]).sum().item() for (x,) in DataLoader(data, batch_size=5))
    return sum(model.generate(x).sum().item() for (x,) in test)


for epoch in range(4):
    for index, (x,) in enumerate(train):
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
        if index % 3 == 2:
            print("test", evaluate().hex())
