# SPDX-License-Identifier: Apache-2.0
"""Two spawned ranks that load with one worker. On the second one items cannot be loaded with several."""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Data(Dataset):
    def __init__(self, rank):
        self.rank = rank
        self.x = torch.randn(16, 5)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        if self.rank == 1 and index > 8 and get_worker_info().num_workers > 1:
            raise OSError("no memory left for another worker")
        return self.x[index]


def train(rank, rendezvous):
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=2)
    torch.manual_seed(16)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(Data(rank), batch_size=4, num_workers=1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "rendezvous"),), nprocs=2)
