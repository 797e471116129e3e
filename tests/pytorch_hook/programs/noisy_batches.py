# SPDX-License-Identifier: Apache-2.0
"""Learns the mean of noisy vectors, with a step for each batch. A number: accumulates this many batches by hand."""
import sys

import torch
import torch.nn as nn

BATCHES = int(sys.argv[1]) if len(sys.argv) > 1 else 1
torch.manual_seed(23)


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.ones(50))

    def forward(self, x):
        return (0.5 * (self.mean - x) ** 2).sum(dim=1).mean()


model = Mean()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for count in range(1, 1001):
    loss = model(torch.randn(4, 50))
    (loss / BATCHES).backward()
    if count % BATCHES == 0:
        optimizer.step()
        optimizer.zero_grad()
