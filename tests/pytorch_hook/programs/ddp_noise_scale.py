# SPDX-License-Identifier: Apache-2.0
"""The program `noise_scale` on ranks, with and without DistributedDataParallel's `no_sync`."""
import contextlib
import sys

import torch
import torch.distributed as dist
import torch.nn as nn

WIDTH, BATCH, MICRO_BATCHES = 50, 4, 4


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return (0.5 * (self.mean - x) ** 2).sum(dim=1).mean()


how = sys.argv[1]
dist.init_process_group("gloo")
torch.manual_seed(23 + dist.get_rank())
model = nn.parallel.DistributedDataParallel(Mean())
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
losses = []
for _ in range(250):
    optimizer.zero_grad()
    for micro_batch in range(MICRO_BATCHES):
        silent = how == "no_sync" and micro_batch < MICRO_BATCHES - 1
        with model.no_sync() if silent else contextlib.nullcontext():
            loss = model(torch.randn(BATCH, WIDTH)) / MICRO_BATCHES
            loss.backward()
    optimizer.step()
    losses.append(loss.item().hex())
print("loss", *losses, flush=True)
dist.destroy_process_group()
