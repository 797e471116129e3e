# SPDX-License-Identifier: Apache-2.0
"""Two micro-batches a step; saves a checkpoint in the middle of the seventh step and ends in the middle of the ninth."""
import io

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
loader = DataLoader(TensorDataset(torch.randn(68, 5)), batch_size=4)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for index, (x,) in enumerate(loader):
    loss = model(x).pow(2).mean()
    loss.backward()
    if index == 12:
        torch.save(model.state_dict(), io.BytesIO())
    if index % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
    print("loss", loss.item().hex(), flush=True)
