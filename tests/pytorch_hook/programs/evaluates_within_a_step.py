# SPDX-License-Identifier: Apache-2.0
"""Accumulates four micro-batches a step. Evaluates after every tenth micro-batch, so in the middle of some steps, as with
Lightning's `val_check_interval`."""
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(37)
loader = DataLoader(TensorDataset(torch.randn(120, 5)), batch_size=2, shuffle=True)
held_out = DataLoader(TensorDataset(torch.randn(6, 5)), batch_size=2)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for index, (x,) in enumerate(loader):
    loss = model(x).pow(2).mean()
    loss.backward()
    if index % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
    if index % 10 == 9:
        model.eval()
        with torch.no_grad():
            total = 0.0
            for (y,) in held_out:
                time.sleep(0.02)
                total += model(y).sum().item()
        model.train()
        print("evaluated", total.hex())
