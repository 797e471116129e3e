# SPDX-License-Identifier: Apache-2.0
"""Trains on two shuffled loaders at once. Arguments:

    zip         reads both loaders in step
    nested      reads three batches of one loader for each batch of the other
    held        makes the other loader's iterator first, and reads from it in every second step
    NUMBER      workers of each loader
    generator   both loaders shuffle with one generator
    samplers    both loaders have a sampler of the program, and these share one generator
"""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

OPTIONS = sys.argv[1:]
WORKERS = next((int(option) for option in OPTIONS if option.isdigit()), 0)


def train_on(x, other):
    optimizer.zero_grad()
    loss = (model(x) - model(other).mean()).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex(), x.sum().item(), other.sum().item())


torch.manual_seed(12)
inputs = torch.randn(40, 5)
generator = torch.Generator().manual_seed(3)


def make_loader(rows):
    order = {"shuffle": True}
    if "generator" in OPTIONS:
        order["generator"] = generator
    if "samplers" in OPTIONS:
        order = {"sampler": RandomSampler(rows, generator=generator)}
    return DataLoader(TensorDataset(rows), batch_size=4, num_workers=WORKERS, **order)


loader, other_loader = make_loader(inputs[:32]), make_loader(inputs[8:])
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
if "zip" in OPTIONS:
    for _ in range(3):
        for (x,), (other,) in zip(loader, other_loader):
            train_on(x, other)
elif "nested" in OPTIONS:
    for (other,) in other_loader:
        for number, (x,) in enumerate(loader):
            train_on(x, other)
            if number == 2:
                break
else:
    for _ in range(3):
        held = iter(other_loader)
        other = inputs[:4]
        for number, (x,) in enumerate(loader):
            if number % 2:
                (other,) = next(held)
            train_on(x, other)
