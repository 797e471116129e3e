# SPDX-License-Identifier: Apache-2.0
"""Averages its gradients itself, over its own process group."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(5)
data = TensorDataset(torch.randn(64, 5))
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data))
for (x,) in loader:
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
    optimizer.step()
    print("loss", loss.item().hex(), model.bias.item().hex(), flush=True)
dist.destroy_process_group()
