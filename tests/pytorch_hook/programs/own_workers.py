# SPDX-License-Identifier: Apache-2.0
"""Reads a data set that may work only with the program's own number of workers. Its first argument chooses the kind:
`raises`, `dies`, `hangs`: fails in any worker.
`draws`, `needs`: behaves differently outside workers (draws random numbers; needs a file that only workers have).
`jitters`: draws random numbers, in workers, too.
`changed`: the program changes the data set for each batch.
`delegates`: the loader has all attributes of its data set.
`plain`, and `has` with one worker: works with any number of workers.
`kills`: kills the youngest worker at a step, if workers were added. `kills-oldest`: kills the program's own worker, if workers
were added. Both write to the named files whether the killed worker was the program's own."""
import multiprocessing
import os
import signal
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

KIND = sys.argv[1]
HAS_WORKERS = KIND in ("draws", "needs", "has", "jitters", "kills-oldest")
KILLS_AT = int(sys.argv[2]) if KIND.startswith("kills") else None


class Rows(Dataset):
    def __init__(self):
        self.scale = 1.0

    def __getitem__(self, index):
        is_worker = get_worker_info() is not None
        if KIND == "raises" and is_worker:
            raise RuntimeError("cannot be forked")
        if KIND == "dies" and is_worker and index == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if KIND == "hangs" and is_worker and index == 3:
            time.sleep(1000)
        if KIND == "needs" and not is_worker:
            raise OSError("the file is open in workers alone")
        if KIND == "draws" and not is_worker:
            torch.rand(1)
        jitter = torch.rand(5) if KIND == "jitters" else 0.0
        return torch.full((5,), self.scale * float(index)) + jitter

    def __len__(self):
        return 120


def workers():
    return sorted(worker.pid for worker in multiprocessing.active_children())


def kill_one():
    now = workers()
    if len(now) > HAS_WORKERS:
        killed = now[0 if KIND == "kills-oldest" else -1]
        os.kill(killed, signal.SIGKILL)
        time.sleep(0.1)  # time for PyTorch to raise an error
        for path in sys.argv[3:]:
            with open(path, "w", encoding="ascii") as file:
                file.write("own" if killed in workers_at_first else "other")


class Delegating(DataLoader):
    def __getattr__(self, name):
        return getattr(self.dataset, name)


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
rows = Rows()
make = Delegating if KIND == "delegates" else DataLoader
loader = make(rows, batch_size=4, shuffle=True, num_workers=1 if HAS_WORKERS else 0)
step = 0
for epoch in range(2):
    for x in loader:
        step += 1
        if step == 1:
            workers_at_first = workers()
        if step == KILLS_AT:
            kill_one()
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        if KIND == "changed":
            rows.scale *= 1.01
        print("loss", loss.item().hex(), x.sum().item())
