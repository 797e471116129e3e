# SPDX-License-Identifier: Apache-2.0
"""Fetches its batches while gradients are disabled. Trains on them (`generator`), on copies made from them (`copies`), or
after a teacher has seen them (`teacher`). Or it does not train on them: looks at one (`look`), or evaluates on some
(`evaluation`), and makes its own."""
import copy
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

way = sys.argv[1]
torch.manual_seed(22)
loader = DataLoader(TensorDataset(torch.randn(24, 5)), batch_size=4, shuffle=True)
model = nn.Linear(5, 1)
teacher = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


@torch.no_grad()
def batches():
    for (x,) in loader:
        if way == "copies":
            x = (x - x.mean(dim=0)) * 2
        elif way == "teacher":
            print("teacher", teacher(x).sum().item().hex(), flush=True)
        yield x


@torch.no_grad()
def made():
    for _ in range(6):
        iterator = iter(loader)
        (x,) = next(iterator)
        print("seen", (model(x) if way == "evaluation" else x).sum().item().hex(), flush=True)
        yield torch.randn(4 if way == "evaluation" else 3, 5)


for _ in range(3):
    for x in batches() if way in ("generator", "copies", "teacher") else made():
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), flush=True)
