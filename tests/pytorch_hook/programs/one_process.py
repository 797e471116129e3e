# SPDX-License-Identifier: Apache-2.0
"""Knows of one process only: no ranks, no samplers of its own. `--unseeded`, `--unused`."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16) if "--norm" in sys.argv else nn.Identity()
        self.last = nn.Linear(16, 3)
        self.unused = nn.Linear(2, 2) if "--unused" in sys.argv else None

    def forward(self, x):
        return self.last(torch.tanh(self.norm(self.first(x))))


torch.manual_seed(torch.seed() if "--unseeded" in sys.argv else 11)
inputs = torch.linspace(-1, 1, 68 * 6).sin().mul(7).cos().reshape(68, 6)
data = TensorDataset(inputs, (inputs.sum(dim=1) * 3).long().remainder(3))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 0.01, betas=(0.8, 0.99))
assert isinstance(optimizer, torch.optim.Adam)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
for epoch in range(2):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        print("evaluated", F.cross_entropy(model(inputs), data.tensors[1]).item(), flush=True)
    if len(sys.argv) > 1 and sys.argv[1].endswith(".pt"):
        torch.save([model.state_dict(), optimizer.state_dict()], sys.argv[1])
