# SPDX-License-Identifier: Apache-2.0
"""Trains with DistributedDataParallel on two spawned ranks, of which the second one differs, so that the hook's setting of
the loader is impossible on that rank alone.

`fails`: the program loads with one worker. If the hook sets several workers, loading fails on the second rank.
`draws`: the program loads without workers. The second rank's sampler draws from the global random generator while it is
read, so workers cannot load its batches ahead without changing the batches."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, Sampler, get_worker_info

FAILS = "fails" in sys.argv
COUNT = 16 if FAILS else 32


class Data(Dataset):
    def __init__(self, fails):
        self.fails = fails
        self.x = torch.randn(COUNT, 5)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        if self.fails and index > 8 and get_worker_info().num_workers > 1:
            raise OSError("no memory left for another worker")
        return self.x[index]


class DrawingSampler(Sampler):
    def __init__(self):
        pass

    def __iter__(self):
        for _ in range(COUNT):
            yield int(torch.randint(COUNT, ()))

    def __len__(self):
        return COUNT


def train(rank, rendezvous):
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=2)
    torch.manual_seed(16)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    is_second_rank = rank == 1
    sampler = DrawingSampler() if is_second_rank and not FAILS else None
    for x in DataLoader(Data(FAILS and is_second_rank), batch_size=4, sampler=sampler, num_workers=1 if FAILS else 0):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "rendezvous"),), nprocs=2)
