# SPDX-License-Identifier: Apache-2.0
"""Two ranks of DistributedDataParallel, spawned. `outlives`: the second one ends when the first has ended."""
import os
import select
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def until_end_of(process):
    """What waits for it."""
    if hasattr(os, "pidfd_open"):  # from Python 3.9 on
        descriptor = os.pidfd_open(process)
        return lambda: select.select([descriptor], [], [])

    def wait():
        try:
            while True:
                os.kill(process, 0)
                time.sleep(0.01)
        except ProcessLookupError:
            pass

    return wait


def train(rank, world_size, rendezvous):
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=world_size)
    torch.manual_seed(16)
    data = TensorDataset(torch.randn(64, 5))
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    model = nn.parallel.DistributedDataParallel(nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    if rank == 0:
        print("loss", *losses, flush=True)
    process_of_first = [os.getpid()]
    dist.broadcast_object_list(process_of_first)
    outlives = rank == 1 and "outlives" in sys.argv
    wait = until_end_of(process_of_first[0]) if outlives else None
    if "outlives" in sys.argv:
        dist.barrier()  # until then the first one is there
    dist.destroy_process_group()
    if outlives:
        wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, os.path.join(folder, "rendezvous")), nprocs=2)
