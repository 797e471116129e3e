# SPDX-License-Identifier: Apache-2.0
"""Two spawned ranks of DistributedDataParallel. The second one's sampler draws from the global generator while it is
read, so that its batches cannot be loaded ahead."""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Sampler, TensorDataset


class InTurn(Sampler):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))

    def __len__(self):
        return self.count


class Drawn(InTurn):
    def __iter__(self):
        for _ in range(self.count):
            yield int(torch.randint(self.count, ()))


def train(rank, rendezvous):
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=2)
    torch.manual_seed(16)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(32, 5))
    for (x,) in DataLoader(data, batch_size=4, sampler=(Drawn if rank else InTurn)(32)):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "rendezvous"),), nprocs=2)
