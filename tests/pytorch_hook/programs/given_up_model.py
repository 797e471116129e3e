# SPDX-License-Identifier: Apache-2.0
"""Trains two image models in turn, whose parts refer to the model. Prints whether the first one was freed."""
import gc
import weakref

import torch
import torch.nn as nn


class Part(nn.Module):
    def __init__(self, whole):
        super().__init__()
        self.whole = [whole]
        self.conv = nn.Conv2d(3, 3, 3)

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(self)

    def forward(self, x):
        return self.part(x).flatten(1)


def train():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(2, 3, 8, 8)).pow(2).mean().backward()
        optimizer.step()
    return weakref.ref(model)


torch.manual_seed(32)
first = train()
second = train()
gc.collect()
print("gone", first() is None)
