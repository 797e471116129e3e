# SPDX-License-Identifier: Apache-2.0
"""Loads without workers, which would fail: from the sixth batch on (`items`), or at once, because `worker_init_fn` expects
workers as in mmengine (`begin`). `all`: one item fails everywhere. `several`: a loader that it reads first works with its one
worker, but not with several; the program handles the error."""
import sys

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

torch.manual_seed(36)
way = sys.argv[1]


class Data(Dataset):
    def __init__(self):
        self.x = torch.randn(48, 5)
        self.served = 0
        self.is_looked_at = False

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        self.served += 1
        if way == "items" and get_worker_info() is not None and self.served > 20:
            raise OSError("no such device in a worker")
        if self.is_looked_at and get_worker_info().num_workers > 1:
            raise OSError("one worker can open it")
        if way == "all" and index == 47:
            raise ValueError("item 47 is damaged")
        return self.x[index]


def begin_worker(worker):
    torch.manual_seed(None * worker)


init = begin_worker if way == "begin" else None
workers = 1 if way == "several" else 0
if way == "several":
    looked_at = Data()
    looked_at.is_looked_at = True
    try:
        next(iter(DataLoader(looked_at, batch_size=4, num_workers=workers)))
    except OSError as error:
        print("not looked at", "one worker can open it" in str(error))
loader = DataLoader(Data(), batch_size=4, shuffle=way != "all", worker_init_fn=init, num_workers=workers)
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    try:
        for x in loader:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())
    except ValueError as error:
        print(type(error).__name__, "damaged" in str(error))
