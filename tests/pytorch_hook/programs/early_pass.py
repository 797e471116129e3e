# SPDX-License-Identifier: Apache-2.0
"""Makes its only pass before its model, which draws random numbers. The order of samples comes from the `program`'s
generator, from the loader's own (`generator`), or is `sequential`. `workers`: has workers. `passes`: three passes, each made
after an unread one, with draws before they are read. `threads`: another thread reads them. `endless`: one endless pass, as in
loaders of YOLO and timm, which is read at once; the model has dropout."""
import sys
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

way = sys.argv[1]
torch.manual_seed(24)
data = TensorDataset(torch.randn(48, 5))
generator = torch.Generator().manual_seed(25) if way == "generator" else None


class Repeated:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from self.sampler

    def __len__(self):
        return len(self.sampler)


if way == "endless":
    model = nn.Sequential(nn.Dropout(0.2), nn.Linear(5, 1))
    loader = DataLoader(data, batch_sampler=Repeated(BatchSampler(RandomSampler(data), 4, False)))
    batches = iter(loader)
else:
    workers = 2 if way == "workers" else 0
    loader = DataLoader(data, batch_size=4, shuffle=way != "sequential", generator=generator, num_workers=workers)
    batches = iter(loader)
    model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
reader = ThreadPoolExecutor(1)
for step in range(30 if way in ("endless", "passes", "threads") else 12):
    if way in ("passes", "threads") and step % 10 == 0:
        unread = iter(loader)
        batches = iter(loader)
        torch.randn(3)
    (x,) = reader.submit(next, batches).result() if way == "threads" else next(batches)
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
unread = batches = None  # ends their workers
