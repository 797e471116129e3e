# SPDX-License-Identifier: Apache-2.0
"""A data set that keeps a file open. The libraries are fakes: `h5py`, `lmdb`, `tables`. `file`: a plain file; `closed`: a
closed file of h5py; `late`: opened at the first item. Or it keeps a connection: `sqlite3`, `socket`; `hung_up`: both,
closed."""
import socket
import sqlite3
import sys
import types

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Subset


def stub(library, name, **attributes):
    module = sys.modules[library] = types.ModuleType(library)
    module.File = type(name, (), dict(attributes, __module__=library))
    return module.File()


KIND = sys.argv[1]


def hung_up():
    connections = sqlite3.connect(":memory:"), socket.socket()
    for connection in connections:
        connection.close()
    return connections


OPEN = {
    "sqlite3": lambda: sqlite3.connect(":memory:"),
    "socket": socket.socket,
    "hung_up": hung_up,
    "h5py": lambda: stub("h5py", "File", __bool__=lambda self: True),
    "closed": lambda: stub("h5py", "File", __bool__=lambda self: False),
    "lmdb": lambda: stub("lmdb", "Environment"),
    "tables": lambda: stub("tables", "File", isopen=1),
    "file": lambda: open(__file__, "rb"),
}


class Rows(Dataset):
    def __init__(self):
        self.parts = {"train": None if KIND == "late" else OPEN[KIND]()}

    def __getitem__(self, index):
        if KIND == "late" and self.parts["train"] is None:
            self.parts["train"] = OPEN["h5py"]()
        return torch.full((5,), float(index))

    def __len__(self):
        return 40


torch.manual_seed(4)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
loader = DataLoader(Subset(Rows(), range(40)), batch_size=4, shuffle=True)
for epoch in range(2):
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
