# SPDX-License-Identifier: Apache-2.0
"""Trains on batches of dictionaries for 160 steps. A number: workers. `pops`: removes tensors from the batches. `changes`:
writes into them. `objects`: they hold an object. `waits`: each item takes 2 ms. `anew`: makes a loader for each pass.
`two`: trains on a second loader, too; `alike`: the second one is made on the same line. `fails`: fails if a batch comes
again."""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

OPTIONS = sys.argv[1:]
WORKERS = next((int(option) for option in OPTIONS if option.isdigit()), 0)


class Data(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        if "waits" in OPTIONS:
            time.sleep(0.002)
        return {"x": torch.full((5,), float(index)), "names": "item"}


def collated(items):
    batch = torch.utils.data.default_collate(items)
    return dict(batch, other=object()) if "objects" in OPTIONS else batch


def loader_of(size, workers=0):
    return DataLoader(Data(), batch_size=size, num_workers=workers, collate_fn=collated)


def endless(loader):
    while True:
        yield from loader
        if "anew" in OPTIONS:
            loader = loader_of(4, WORKERS)


torch.manual_seed(5)
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
batches, others = endless(loader_of(4, WORKERS)), None
if "two" in OPTIONS:
    others = endless(DataLoader(Data(), batch_size=2))
elif "alike" in OPTIONS:
    others = endless(loader_of(2))
seen = []
for step in range(160):
    batch = next(batches)
    x = batch.pop("x") if "pops" in OPTIONS else batch["x"]
    seen.append(int(x[0, 0]))
    if "fails" in OPTIONS and len(set(seen[-100:])) < len(seen[-100:]):
        raise RuntimeError("this batch was here before")
    if "changes" in OPTIONS:
        x.add_(1)
    if others is not None:
        x = torch.cat((x, next(others)["x"]))
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
batches.close()  # also ends the workers of its pass
print("seen", *seen)
