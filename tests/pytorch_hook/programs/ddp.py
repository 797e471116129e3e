# SPDX-License-Identifier: Apache-2.0
"""Two spawned ranks of DistributedDataParallel. `outlives`: the second one ends after the first. `none`: passes
None for an argument."""
import fcntl
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def train(rank, world_size, rendezvous):
    lives = open(rendezvous + ".first", "a")  # locked until the first rank ends
    if rank == 0:
        fcntl.flock(lives, fcntl.LOCK_EX)
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=world_size)
    torch.manual_seed(16)
    data = TensorDataset(torch.randn(64, 5))
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    options = {"gradient_as_bucket_view": None} if "none" in sys.argv else {}
    model = nn.parallel.DistributedDataParallel(nn.Linear(5, 1), **options)
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
    dist.destroy_process_group()
    if rank == 1 and "outlives" in sys.argv:
        fcntl.flock(lives, fcntl.LOCK_EX)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, os.path.join(folder, "rendezvous")), nprocs=2)
