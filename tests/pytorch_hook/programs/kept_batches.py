# SPDX-License-Identifier: Apache-2.0
"""Trains on batches that it keeps: parts of the first batch (`one`); the first batch, by `model.forward` (`unseen`;
`looked_at`: with an evaluation before some steps); the first pass (`cycle`; `long`: of 15 batches; `persistent`: from
persistent workers); each batch for three steps, while it reads on (`repeated`)."""
import itertools
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
way = sys.argv[1]
workers = {"num_workers": 1, "persistent_workers": True} if way == "persistent" else {}
loader = DataLoader(TensorDataset(torch.randn(60 if way == "long" else 16, 5)), batch_size=4, **workers)
if way in ("one", "unseen", "looked_at"):
    kept = next(iter(loader))
    batches = (kept for _ in range(24 if way == "looked_at" else 12))
elif way in ("cycle", "long", "persistent"):
    batches = itertools.islice(itertools.cycle(loader), 30 if way == "long" else 12)
else:
    batches = (batch for batch in loader for _ in range(3))
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step, (x,) in enumerate(batches):
    optimizer.zero_grad()
    outputs = model(x[:2]) if way == "one" else model.forward(x) if way in ("unseen", "looked_at") else model(x)
    loss = outputs.pow(2).mean()
    loss.backward()
    if way == "looked_at" and step % 5 == 1:
        with torch.no_grad():
            print("look", model(x).sum().item().hex(), flush=True)
    optimizer.step()
    print("loss", loss.item().hex(), flush=True)
