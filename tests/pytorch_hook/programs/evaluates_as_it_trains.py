# SPDX-License-Identifier: Apache-2.0
"""Evaluates in training mode and with gradients, as DLRM does: reads another loader without a backward. Or reads the training
loader first, or calls backward only after each pass."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
way = sys.argv[1]
train = DataLoader(TensorDataset(torch.randn(24, 5)), batch_size=4, shuffle=True)
test = DataLoader(TensorDataset(torch.randn(10, 5)), batch_size=5)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def evaluate(loader):
    print("test", sum(model(x).pow(2).mean().item() for (x,) in loader).hex())


def step(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())


if way == "first":
    evaluate(test)
if way == "calibrate":
    evaluate(train)
for epoch in range(4):
    if way == "whole":
        step(sum(model(x).pow(2).mean() for (x,) in train))
        continue
    for index, (x,) in enumerate(train):
        step(model(x).pow(2).mean())
        if way == "within" and index % 3 == 2:
            evaluate(test)
    if way in ("first", "after"):
        evaluate(test)
    if way == "own":
        evaluate(train)
