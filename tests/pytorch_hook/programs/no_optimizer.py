# SPDX-License-Identifier: Apache-2.0
"""Parameters updated by hand, as PyTorch's word language model does."""
import io
from inspect import signature

import torch
import torch.nn as nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
data = torch.randn(30, 4, 6)
for epoch in range(2):
    model.train()
    for batch in data:
        model.zero_grad()
        loss = (model(batch) ** 2).mean()
        loss.backward()
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.1)
        print("loss", loss.item().hex())
    with open("/dev/null", "wb") as file:
        torch.save(model, file)
    stored = io.BytesIO()
    torch.save(model, stored)
    stored.seek(0)
    takes = signature(torch.load).parameters
    whole = {"weights_only": False} if "weights_only" in takes else {}
    assert sorted(vars(torch.load(stored, **whole))) == sorted(vars(model))
