# SPDX-License-Identifier: Apache-2.0
"""The program `noise_scale` on two ranks, with and without DistributedDataParallel's `no_sync`."""
import contextlib
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

WIDTH, BATCH, MICRO_BATCHES = 50, 4, 4


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return (0.5 * (self.mean - x) ** 2).sum(dim=1).mean()


def spare_no_time():
    """A loaded machine takes as many looks as an idle one."""
    if "STEPTUNE_PYTORCH" in os.environ:
        from steptune_pytorch import micro_batches

        micro_batches.MOST_SHARE = float("inf")


def train(rank, world_size, rendezvous, how):
    spare_no_time()
    dist.init_process_group("gloo", "file://" + rendezvous, rank=rank, world_size=world_size)
    torch.manual_seed(23 + rank)
    model = nn.parallel.DistributedDataParallel(Mean())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    losses = []
    for _ in range(400):
        optimizer.zero_grad()
        for micro_batch in range(MICRO_BATCHES):
            silent = how == "no_sync" and micro_batch < MICRO_BATCHES - 1
            with model.no_sync() if silent else contextlib.nullcontext():
                loss = model(torch.randn(BATCH, WIDTH)) / MICRO_BATCHES
                loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    if rank == 0:
        print("loss", *losses, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, os.path.join(folder, "rendezvous"), sys.argv[1]), nprocs=2)
