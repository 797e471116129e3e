# SPDX-License-Identifier: Apache-2.0
"""Calls steptune.report itself."""
import steptune
import torch
import torch.nn as nn

torch.manual_seed(14)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    loss = model(torch.randn(4, 5)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steptune.report(samples=4, loss=loss)
