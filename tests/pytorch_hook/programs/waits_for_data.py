# SPDX-License-Identifier: Apache-2.0
"""Each data item takes 5 ms to arrive, on any machine. Runs alone, or as one of several ranks with the variables of
torch.distributed. It prints nothing, has no options, and does not end by itself."""
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Late(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.full((5,), index % 7 / 7)


torch.manual_seed(16)
data, model, sampler = Late(), nn.Linear(5, 1), None
if int(os.environ.get("WORLD_SIZE", "1")) > 1:
    dist.init_process_group("gloo")
    model, sampler = nn.parallel.DistributedDataParallel(model), DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
