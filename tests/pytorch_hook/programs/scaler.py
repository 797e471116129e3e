# SPDX-License-Identifier: Apache-2.0
"""A GradScaler, which skips steps whose gradients are not finite; two micro-batches a step. `pair`: scales two
losses before it calls backward on either. `list`: scales both in one call. `fused`: has a fused
optimizer. `made`: no loader supplies the batches. `subclass`: the scaler's class scales by itself, as FSDP's does."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
loader = DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=4, shuffle=True)
model = nn.Linear(5, 1)
how = {"fused": True} if "fused" in sys.argv else {}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **how)
print("takes scaled gradients", getattr(optimizer, "_step_supports_amp_scaling", False))


class Scaler(torch.cuda.amp.GradScaler):
    def scale(self, loss, factor):
        return loss * factor


factor = {"factor": 1024.0} if "subclass" in sys.argv else {}
scaler = Scaler() if "subclass" in sys.argv else torch.cuda.amp.GradScaler()
batches = [torch.randn(1, 4, 5) for _ in range(12)] if "made" in sys.argv else loader
for index, (x,) in enumerate(batches):
    loss = model(x * 1e30 if index in (3, 8) else x).pow(2).mean()
    if "pair" in sys.argv or "list" in sys.argv:
        losses = [loss, model(x).abs().mean()]
        for scaled in scaler.scale(losses) if "list" in sys.argv else [scaler.scale(part) for part in losses]:
            scaled.backward()
        loss = sum(losses)
    else:
        scaler.scale(loss, **factor).backward()
    if index % 2 == 1:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        print("weight", model.weight.sum().item().hex())
    print("loss", loss.item().hex())
