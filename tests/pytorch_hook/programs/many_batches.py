# SPDX-License-Identifier: Apache-2.0
"""One pass of 68 batches that a worker loads."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
loader = DataLoader(TensorDataset(torch.randn(68 * 2, 3)), batch_size=2, shuffle=True, num_workers=1)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for (x,) in loader:
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
