# SPDX-License-Identifier: Apache-2.0
"""Persistent workers, over several passes."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
data = TensorDataset(torch.randn(40, 5))
loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(model.parameters())
for epoch in range(3):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
