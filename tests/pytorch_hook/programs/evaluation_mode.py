# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning in evaluation mode, with its own autocast and threads."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
loader = DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in loader:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(x).float().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
