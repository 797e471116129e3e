# SPDX-License-Identifier: Apache-2.0
"""Batches that are neither tensors nor usual containers of them: objects (`object`, `slots`), dictionaries with attributes
(`keys`; `boxes`: a field with three rows for each sample comes first), arrays (`arrays`, `listed`), texts (`texts`), nested tensors (`nested`), single samples that the program collates
(`unbatched`). Without a loader: a model that takes such values (`given`), one that is traced between its steps (`traced`),
and one of complex numbers whose backward gets its gradient (`complex`)."""
import itertools
import sys
import warnings

import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")  # of prototype features
WAY = sys.argv[1]


class Batch:
    def __init__(self, rows):
        self.name = "rows"
        self.rows = rows


class Slots:
    __slots__ = ("name", "rows")
    __init__ = Batch.__init__


class Keys(dict):
    __getattr__ = dict.__getitem__


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(5, 1)

    def forward(self, x):
        return self.last(as_tensor(x))


def as_tensor(batch):
    if isinstance(batch, torch.Tensor):
        return torch.stack([row.sum() * torch.ones(5) for row in batch.unbind()]) if WAY == "nested" else batch
    if isinstance(batch, (Batch, Slots, Keys)):
        return batch.rows
    if isinstance(batch, numpy.ndarray):
        return torch.from_numpy(batch)
    if WAY == "texts":
        return torch.tensor([[float(text)] * 5 for text in batch])
    return torch.stack([torch.from_numpy(row) for row in batch[0 if WAY == "arrays" else slice(None)]])


def nested(items):
    make = torch.nested.nested_tensor if hasattr(torch, "nested") else torch.nested_tensor
    return make([item[: 2 + index % 3] for index, item in enumerate(items)])


COLLATE = {
    "object": lambda items: Batch(torch.stack(items)),
    "slots": lambda items: Slots(torch.stack(items)),
    "keys": lambda items: Keys(rows=torch.stack(items)),
    "boxes": lambda items: Keys(boxes=torch.zeros(3 * len(items), 4), rows=torch.stack(items)),
    "arrays": lambda items: (torch.stack(items).numpy(), numpy.zeros(len(items))),
    "listed": lambda items: [item.numpy() for item in items],
    "texts": lambda items: [str(item[0].item()) for item in items],
    "nested": nested,
}


def batches():
    if WAY in COLLATE:
        yield from DataLoader(list(torch.randn(22, 5)), batch_size=4, collate_fn=COLLATE[WAY])
        return
    if WAY == "unbatched":
        items = iter(DataLoader(list(torch.randn(22, 3, 5)), batch_size=None))
        for some in iter(lambda: list(itertools.islice(items, 4)), []):
            yield torch.stack(some).mean(1)
        return
    for step in range(6):
        rows = torch.randn(4 if step < 5 else 2, 5)
        yield Batch(rows) if WAY == "given" else rows.to(torch.cfloat) if WAY == "complex" else rows


torch.manual_seed(29)
model = Net().to(torch.cfloat) if WAY == "complex" else Net()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for batch in batches():
    optimizer.zero_grad()
    if WAY == "complex":
        loss = model(batch).sum()
        loss.backward(torch.ones_like(loss))
    else:
        loss = model(batch).pow(2).mean()
        loss.backward()
    optimizer.step()
    print("loss", torch.view_as_real(loss)[0].item() if WAY == "complex" else loss.item().hex(), flush=True)
    if WAY == "traced":
        torch.jit.trace(model, torch.ones(3, 5), check_trace=False)
