# SPDX-License-Identifier: Apache-2.0
"""An optimizer with groups of parameters, one of which is an iterator."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
data = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(
    [
        {"params": (p for p in model[0].parameters()), "weight_decay": 0.1},
        {"params": list(model[2].parameters()), "lr": 1e-2},
    ],
    lr=1e-3,
)
for inputs, targets in data:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
print("groups", [(len(group["params"]), group["lr"], group["weight_decay"]) for group in optimizer.param_groups])
