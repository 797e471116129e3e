# SPDX-License-Identifier: Apache-2.0
"""A pass that starts slowly. The program asks for it some time before its first batch."""
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class SlowStart(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.1 if index == 0 else 0.001)
        return torch.full((5,), float(index))


torch.manual_seed(10)
loader = DataLoader(SlowStart(), batch_size=8)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for epoch in range(3):
    batches = iter(loader)
    time.sleep(0.05)
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
