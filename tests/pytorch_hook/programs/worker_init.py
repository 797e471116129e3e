# SPDX-License-Identifier: Apache-2.0
"""Generators, a worker_init_fn, a timeout, a new loader in each epoch."""
import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def seed_worker(worker_id):
    numpy.random.seed(torch.initial_seed() % 2**32)


torch.manual_seed(8)
generator = torch.Generator().manual_seed(42)
data = TensorDataset(torch.randn(40, 5), torch.arange(40))
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    loader = DataLoader(
        data,
        8,
        True,
        num_workers=1,
        timeout=60,
        worker_init_fn=seed_worker,
        generator=generator,
    )
    for x, index in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), index.tolist())
