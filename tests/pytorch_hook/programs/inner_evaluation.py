# SPDX-License-Identifier: Apache-2.0
"""Evaluates another module than the one that it trains: the module inside it (`inner`), one of a class that no step has
called (`copy`), or one of its class that nothing trains (`average`). Except for `average`, it also evaluates on the
training data before the first step."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Linear):
    pass


class Copy(nn.Linear):
    pass


torch.manual_seed(20)
train = DataLoader(TensorDataset(torch.randn(32, 5)), batch_size=4, shuffle=True)
test = DataLoader(TensorDataset(torch.randn(12, 5)), batch_size=4)
model = Net(5, 1)
wrapped = nn.DataParallel(model)
evaluated = model if sys.argv[1] == "inner" else Copy(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


if sys.argv[1] == "average":
    evaluated = Net(5, 1).requires_grad_(False)


def mean_on(loader):
    evaluated.load_state_dict(model.state_dict())
    if sys.argv[1] != "average":
        with torch.no_grad():
            return sum(evaluated(x).mean().item() for (x,) in loader)
    total = 0.0
    for (x,) in loader:
        with torch.no_grad():
            total += evaluated(x).mean().item()
    return total


if sys.argv[1] != "average":
    print("train", mean_on(train).hex(), flush=True)
for _ in range(3):
    for (x,) in train:
        optimizer.zero_grad()
        loss = wrapped(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), flush=True)
    print("test", mean_on(test).hex(), flush=True)
