# SPDX-License-Identifier: Apache-2.0
"""Looks at its data before it trains: at a batch of the loader that it tests with (`peek`, as PyTorch's first
tutorial; `pictures`: after each pass), at all batches that it is going to train on (`statistics`) or to test with
(`other`), at one or two batches of the loader that it trains with, before each pass (`size`, `sizes`, as PyTorch's
tutorial of DistributedDataParallel)."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

way = sys.argv[1]
looks_at_training = {"size": 1, "sizes": 2}.get(way, 0)
torch.manual_seed(33)
train = DataLoader(TensorDataset(torch.randn(16, 5)), batch_size=4)
test = DataLoader(TensorDataset(torch.randn(24, 5)), batch_size=8)
for (x,) in [] if looks_at_training or way == "pictures" else train if way == "statistics" else test:
    print(x.shape, x.mean().item().hex())
    if way == "peek":
        break
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    for _ in range(looks_at_training):
        print(len(next(iter(train))[0]))
    for (x,) in train:
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item().hex())
    if way == "pictures":
        print(next(iter(test))[0].shape)
    model.eval()
    with torch.no_grad():
        print("test", sum(model(x).pow(2).mean().item() for (x,) in test).hex())
    model.train()
