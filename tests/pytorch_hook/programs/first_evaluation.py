# SPDX-License-Identifier: Apache-2.0
"""Fetches each batch while it trains on the previous one. Every fifth time, it evaluates between fetching and training, as
nanoGPT and llama2.c do."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)
train = DataLoader(TensorDataset(torch.randn(52, 5)), batch_size=4)
test = DataLoader(TensorDataset(torch.randn(12, 5)), batch_size=4)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = iter(train)
(x,) = next(batches)
for step in range(12):
    if step % 5 == 0:
        model.eval()
        with torch.no_grad():
            print("test", sum(model(y).pow(2).mean().item() for (y,) in test).hex())
        model.train()
    loss = model(x).pow(2).mean()
    (x,) = next(batches)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
