# SPDX-License-Identifier: Apache-2.0
"""Two micro-batches a step. Saves a checkpoint within step 13 and ends within step 16. `ahead`: fetches the next batch before
the step."""
import io
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
batches = iter(DataLoader(TensorDataset(torch.randn(124, 5)), batch_size=4))
ahead = sys.argv[1:] == ["ahead"]
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
fetched = next(batches)
index = 0
while fetched is not None:
    loss = model(fetched[0]).pow(2).mean()
    loss.backward()
    if ahead:
        fetched = next(batches, None)
    if index == 24:
        torch.save(model.state_dict(), io.BytesIO())
    if index % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
    print("loss", loss.item().hex(), flush=True)
    if not ahead:
        fetched = next(batches, None)
    index += 1
