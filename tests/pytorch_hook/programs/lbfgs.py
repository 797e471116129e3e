# SPDX-License-Identifier: Apache-2.0
"""A closure: forward and backward run within the optimizer's step."""
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_default_dtype(torch.double)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
x, y = torch.randn(20, 3), torch.randn(20, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=10)
for step in range(4):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        print("loss", loss.item().hex())
        loss.backward()
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        nn.functional.mse_loss(model(x[:5]), y[:5])
