# SPDX-License-Identifier: Apache-2.0
"""A part of the model that gets a gradient `always`, `never`, from the fifth step on (`late`), at every second step
(`turns`), or until it is frozen (`frozen`: after four steps, `frozen-late`: after 128). Second word: the optimizer (`adam`,
`adamw`, `sgd`, `momentum`, `decay`). `accumulate`: two backwards a step. `clip`: clips gradients. `closure`: the optimizer
calls for the loss. `twice`: two steps per backward. `none`: passes None as closure, like accelerate."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

WHEN, OPTIMIZER, *OPTIONS = sys.argv[1:]
torch.manual_seed(17)
FREEZES_AT = {"frozen": 4, "frozen-late": 128}.get(WHEN)
inputs = torch.randn(30 if WHEN != "frozen-late" and "twice" not in OPTIONS else 140, 8, 6)
targets = inputs.sum(dim=2, keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 12)
        self.part = nn.Linear(12, 12)
        self.last = nn.Linear(12, 1)

    def forward(self, x, step):
        y = torch.tanh(self.first(x))
        used = {"never": False, "late": step >= 4, "turns": step % 2 == 0}.get(WHEN, True)
        return self.last(y + torch.tanh(self.part(y)) if used else y)


model = Net()
optimizer = {
    "adam": lambda p: torch.optim.Adam(p, 0.01),
    "adamw": lambda p: torch.optim.AdamW(p, 0.01),
    "sgd": lambda p: torch.optim.SGD(p, 0.01),
    "momentum": lambda p: torch.optim.SGD(p, 0.01, momentum=0.9),
    "decay": lambda p: torch.optim.SGD(p, 0.01, weight_decay=0.1),
}[OPTIMIZER](model.parameters())


def backward():
    optimizer.zero_grad()
    for _ in range(2 if "accumulate" in OPTIONS else 1):
        loss = F.mse_loss(model(inputs[step], step), targets[step])
        loss.backward()
    return loss


for step in range(len(inputs)):
    if step == FREEZES_AT:
        model.part.requires_grad_(False)
    if "closure" in OPTIONS:
        loss = optimizer.step(backward)
    else:
        loss = backward()
        if "clip" in OPTIONS:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        for _ in range(2 if "twice" in OPTIONS else 1):
            optimizer.step(*([None] if "none" in OPTIONS else []))
    print("loss", loss.item().hex(), model.part.weight.sum().item().hex())
