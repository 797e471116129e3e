# SPDX-License-Identifier: Apache-2.0
"""Its data set makes batches, and the loader takes one at a time, as in DLRM."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(37)
data = TensorDataset(torch.randn(6, 8, 5))
loader = DataLoader(data, batch_size=1, collate_fn=lambda items: items[0])
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for (x,) in loader:
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
