# SPDX-License-Identifier: Apache-2.0
"""Fetches batches before the previous one is trained on: `endless`, a prefetcher that starts the next pass by itself;
`broken`, passes that end early (`limited`: without a prefetched batch); `two_models`, which train on each batch;
`accumulate`, two batches a step. Or fetches two batches together: `pairs`, for one forward; `both`, for a step each;
`joined`, concatenated; `listed`, the whole pass first; `tasks`, the first two of each pass, for one forward each and one
step."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
loader = DataLoader(TensorDataset(torch.randn(14, 5)), batch_size=4)  # the last batch has two samples
models = [nn.Linear(5, 1) for _ in range(2 if sys.argv[1] == "two_models" else 1)]
optimizer = torch.optim.SGD([p for model in models for p in model.parameters()], lr=0.01)


class Pair(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, other):
        return self.model(x) - self.model(other[: len(x)])[: len(other)].mean()


def step(*inputs):
    optimizer.zero_grad()
    loss = sum(model(*inputs).pow(2).mean() for model in models)
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())


def one_ahead(iterator):
    current = next(iterator)
    for following in iterator:
        yield current
        current = following
    yield current


def endless():
    while True:
        yield from loader


way = sys.argv[1]
if way == "endless":
    batches = one_ahead(endless())
    for _ in range(9):
        step(*next(batches))
elif way == "accumulate":
    for index, (x,) in enumerate(one_ahead(endless())):
        models[0](x).pow(2).mean().backward()
        if index % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
        if index == 9:
            break
elif way in ("broken", "limited", "two_models"):
    for _ in range(3):
        for index, batch in enumerate(loader if way == "limited" else one_ahead(iter(loader))):
            if way != "two_models" and index == 2:
                break
            step(*batch)
elif way == "tasks":
    for _ in range(6):
        batches = iter(loader)
        (x,), (other,) = next(batches), next(batches)
        loss = models[0](x).pow(2).mean() + models[0](other).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
elif way == "listed":
    for batch in list(loader):
        step(*batch)
else:
    models[0] = Pair(models[0]) if way == "pairs" else models[0]
    for _ in range(3):
        batches = iter(loader)
        for (x,), (other,) in zip(batches, batches):
            if way == "pairs":
                step(x, other)
            elif way == "joined":
                step(torch.cat([x, other]))
            else:
                step(x)
                step(other)
