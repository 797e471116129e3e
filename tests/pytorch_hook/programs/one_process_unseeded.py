# SPDX-License-Identifier: Apache-2.0
"""One process that sets no seed and draws before it trains."""
import random

import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

data = TensorDataset(torch.arange(32.0).reshape(32, 1))
part, _ = random_split(data, [16, 16])
print("drawn", sorted(part.indices), random.random(), numpy.random.rand(), flush=True)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for (x,) in DataLoader(part, batch_size=4, shuffle=True):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
print("trained", model.weight.item())
