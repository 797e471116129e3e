# SPDX-License-Identifier: Apache-2.0
"""Leaves a pass in the middle and keeps it, while it trains on another loader. `files`: reads both in turns; the second
data set opens a file at its first item. `early`: a loader with its own generator, whose passes are left shortly before
their end; with `replacement` it draws with replacement; with `evaluated` another loader draws from the generator after each
pass; with `beside` the program draws from it while it trains. `workers`: has workers. `default`: uses the program's
generator."""
import sys
import types

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

OPENS_FILE = "files" in sys.argv
library = sys.modules["h5py"] = types.ModuleType("h5py")
library.File = type("File", (), {"__module__": "h5py", "__bool__": lambda self: True})


class Rows(Dataset):
    def __init__(self, opens):
        self.opens = opens
        self.file = None

    def __getitem__(self, index):
        if self.opens:
            self.file = library.File()
        return torch.full((5,), float(index))

    def __len__(self):
        return 160


def train_on(x):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())


torch.manual_seed(4)
model = nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 1)) if "default" in sys.argv else nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
first, second = (DataLoader(Rows(opens), batch_size=4, shuffle=True) for opens in (False, OPENS_FILE))
if "early" in sys.argv or "default" in sys.argv:
    own = torch.default_generator if "default" in sys.argv else torch.Generator().manual_seed(3)
    rows = Rows(False)
    order = RandomSampler(rows, replacement="replacement" in sys.argv, generator=own)
    loader = DataLoader(rows, batch_size=4, sampler=order, num_workers=2 if "workers" in sys.argv else 0)
    evaluated = DataLoader(rows, batch_size=40, shuffle=True, generator=own)
    for _ in range(3):
        for number, x in enumerate(loader):
            if "beside" in sys.argv and number % 10 == 9:
                x = x + torch.rand(x.shape, generator=own)
            train_on(x)
            if number == 37 and "early" in sys.argv:
                break
        if "evaluated" in sys.argv:
            with torch.no_grad():
                print("order", next(iter(evaluated))[:, 0].tolist())
elif OPENS_FILE:
    for _ in range(2):
        for loader in (first, second):
            for x in loader:
                train_on(x)
else:
    kept = iter(first)
    for _ in range(6):
        train_on(next(kept))
    for _ in range(2):
        for x in second:
            train_on(x)
