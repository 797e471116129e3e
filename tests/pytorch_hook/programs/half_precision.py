# SPDX-License-Identifier: Apache-2.0
"""A network whose gradients pass through 16 bits, so that small ones vanish and large ones become infinite, on any
processor. `own`: with its own autocast and GradScaler. Further options: `clip`, `accumulate`, `two` optimizers of
one loss, `closure`, `hooked` (a hook of a parameter), `penalty` (on all weights), `frozen` (a layer that trains
later), `recomputes` (a part within the backward), `overflows` (some batches are too large). Launched as ranks,
they average gradients, and one rank at a time has too large a batch; `by_hand`: without
DistributedDataParallel."""
import os
import sys

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

WHAT = sys.argv[1:]
OWN = "own" in WHAT
RANK = int(os.environ.get("RANK", 0))
RANKS = "RANK" in os.environ
LARGE = (5, 11)
BATCHES = 3 if "accumulate" in WHAT else 1  # per step


class Narrow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.half().float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.last = nn.Linear(8, 1)
        self.rate = nn.Parameter(torch.ones(()))

    def forward(self, x):
        if "recomputes" in WHAT:
            hidden = checkpoint(self.hidden, x * self.rate, use_reentrant=True)
            return self.last(hidden)
        return self.rate * self.last(self.hidden(x))

    def hidden(self, x):
        return Narrow.apply(torch.tanh(self.first(x)))


def loss_of(x, index):
    if "overflows" in WHAT and index in (LARGE[RANK : RANK + 1] if RANKS else LARGE):
        x = x * 1e30
    if OWN:
        with torch.autocast("cpu", dtype=torch.float16):
            output = model(x)
        output = output.float()
    else:
        output = model(x)
    loss = (output + x[:, :1]).pow(2).mean() * 1e-6
    if "penalty" in WHAT:
        loss = loss + 1e-7 * sum(p.pow(2).sum() for p in model.parameters())
    return loss


def backward(loss):
    (scaler.scale(loss) if OWN else loss).backward()


def step():
    if OWN:
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
    if "clip" in WHAT:
        print("norm", nn.utils.clip_grad_norm_(model.parameters(), 1e-7).item().hex())
    else:
        norms = [p.grad.norm().item().hex() for p in model.parameters() if p.grad is not None]
        print("norms", *norms)
    for optimizer in optimizers:
        scaler.step(optimizer) if OWN else optimizer.step()
    if OWN:
        scaler.update()
    for optimizer in optimizers:
        optimizer.zero_grad()


def step_with_closure(x, index):
    (optimizer,) = optimizers

    def closure():
        optimizer.zero_grad()
        loss = loss_of(x, index)
        backward(loss)
        return loss

    if OWN:
        loss = closure()
        scaler.step(optimizer)
        scaler.update()
        return loss
    return optimizer.step(closure)


torch.manual_seed(17)
loader = DataLoader(TensorDataset(torch.randn(96, 6)), batch_size=4, shuffle=True)
model = Net()
if RANKS:
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(RANK)
if "frozen" in WHAT:
    model.first.requires_grad_(False)
if "hooked" in WHAT:
    model.last.weight.register_hook(lambda gradient: gradient.clamp(-1e-8, 1e-8))
groups = [model.parameters()]
if "two" in WHAT:
    groups = [[model.rate, *model.first.parameters()], model.last.parameters()]
if RANKS and "by_hand" not in WHAT:
    model = nn.parallel.DistributedDataParallel(model)
optimizers = [torch.optim.Adam(group, lr=0.05) for group in groups]
if OWN:
    scaler = (torch.amp if hasattr(torch.amp, "GradScaler") else torch.cuda.amp).GradScaler("cpu")
index = 0
for epoch in range(2):
    if "frozen" in WHAT and epoch == 1:
        model.first.requires_grad_(True)
    for (x,) in loader:
        if "closure" in WHAT:
            print("loss", step_with_closure(x, index).item().hex())
        else:
            loss = loss_of(x, index)
            backward(loss)
            if index % BATCHES == BATCHES - 1:
                step()
            print("loss", loss.item().hex())
        index += 1
if RANKS:
    torch.distributed.destroy_process_group()
print("weights", *(p.double().sum().item().hex() for p in model.parameters()))
