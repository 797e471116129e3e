# SPDX-License-Identifier: Apache-2.0
"""Two spawned ranks of DistributedDataParallel. `fails`: they load with one worker; on the second rank, loading with several
fails. `draws`: the second rank's sampler draws from the global generator while it is read, so its batches cannot be loaded
ahead."""
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


class Drawn(Sampler):
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
    is_odd = rank == 1
    sampler = Drawn() if is_odd and not FAILS else None
    for x in DataLoader(Data(FAILS and is_odd), batch_size=4, sampler=sampler, num_workers=1 if FAILS else 0):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "rendezvous"),), nprocs=2)
