# SPDX-License-Identifier: Apache-2.0
"""Calls its model's `forward` directly, which the hook does not see, on a loader's batches."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for (batch,) in DataLoader(TensorDataset(torch.randn(40, 8)), batch_size=4):
    loss = model.forward(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
