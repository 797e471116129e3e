# SPDX-License-Identifier: Apache-2.0
"""Reads whole passes for one step: `bags` (features of each batch, then a head on all), `two` loaders with one loss,
`by_hand` (sums the gradients itself), `episodes` (a support set, and a batch of queries)."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)
way = sys.argv[1]
whole = DataLoader(TensorDataset(torch.randn(24, 5)), batch_size=4, shuffle=True)
small = DataLoader(TensorDataset(torch.randn(8, 5)), batch_size=4, shuffle=True)
model = nn.Linear(5, 1)
head = nn.Linear(1, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.01)
queries = iter(whole)

for _ in range(6):
    optimizer.zero_grad()
    if way == "bags":
        loss = head(torch.cat([model(x) for (x,) in whole]).mean(0, keepdim=True)).pow(2).mean()
    elif way == "two":
        loss = sum(model(x).pow(2).mean() for (x,) in whole) + sum(model(x).abs().mean() for (x,) in small)
    elif way == "episodes":
        loss = model(torch.cat([x for (x,) in small] + next(queries))).pow(2).mean()
    if way == "by_hand":
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        for (x,) in whole:
            loss = model(x).pow(2).mean()
            for parameter, gradient in zip(model.parameters(), torch.autograd.grad(loss, [*model.parameters()])):
                parameter.grad += gradient
    else:
        loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
