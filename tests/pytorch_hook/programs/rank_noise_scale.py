# SPDX-License-Identifier: Apache-2.0
"""The program `noise_scale` on ranks, one backward a step. `network` and `micro_batches` train a network on the same samples:
on ranks, and as micro-batches of one process. `alone` knows only one process. Prints at each step how many parameters have
tensor hooks."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

WIDTH, BATCH, RANKS = 50, 4, 2
UNKNOWN = ("never zeroed", "two losses", "sizes", "same", "own parameter", "compressed", "checkpoints", "raises")
ALONE = ("micro_batches", "alone")
DISTANCE = 0.5  # the scale is then 4 samples


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.full((WIDTH - 1,), DISTANCE))
        self.last = nn.Parameter(torch.full((1,), DISTANCE))
        self.seldom = nn.Parameter(torch.zeros(WIDTH)) if how == "unused" else None

    def forward(self, x):
        mean = torch.cat([self.mean, self.last])
        if how == "unused" and x[0, 0] > 0.0:
            # |G|^2 is that of `mean` and a fourth of it. Of 4 samples the gradient's variance is 50 / 4 and that of a
            # product with 0 or 1: (50 / 4 + |G|^2) / 2 - |G|^2 / 4. So the scale is 87.5 / 15.6 = 5.6 samples.
            mean = mean + self.seldom
        if how == "twice":
            return self.half(x) + self.half(x)
        if how == "checkpoints":
            x = x.requires_grad_()
            once, again = [checkpoint(self.half, x, use_reentrant=True) for _ in range(2)]
            return 2.2 * once - 0.2 * again  # the norm of the gradient's two parts together is 1.1 times the gradient's
        return (0.5 * (mean - x) ** 2).sum(dim=1).mean()

    def half(self, x):
        return (0.25 * (torch.cat([self.mean, self.last]) - x) ** 2).sum(dim=1).mean()


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise RuntimeError("as asked")


def batch_of(step, rank):
    if how == "alone":
        return next(batches)[0]
    generator = torch.Generator().manual_seed(1000 * step + (0 if how == "same" else rank))
    size = BATCH
    if how == "sizes":
        size += step // 4 % 2
    if how == "last" and step % 20 == 0:  # one of the measured steps, which are every fourth
        size -= 2
    return torch.randn(size, WIDTH, generator=generator)


def loss_of(model, x):
    if how in ("network", "micro_batches"):
        return (model(x) - x.sum(dim=1, keepdim=True) - 5.0).pow(2).mean()
    return model(x)


def wrapped(model):
    if how in ALONE:
        return model
    options = {
        "unused": {"find_unused_parameters": True},
        "views": {"gradient_as_bucket_view": True},
        "static": {"static_graph": True},
        "checkpoints": {"static_graph": True},
    }
    if how == "compiled":
        model = torch.compile(model, backend="aot_eager")
    model = nn.parallel.DistributedDataParallel(model, **options.get(how, {}))
    if how == "compiled with ranks":
        model = torch.compile(model, backend="aot_eager")
    if how == "compressed":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    return model


how = sys.argv[1]
steps = 100 if how in UNKNOWN else 300
rank = int(os.environ.get("RANK", "0"))
if how not in ALONE:
    dist.init_process_group("gloo")
torch.manual_seed(24)
if how in ("network", "micro_batches"):
    model = nn.Sequential(nn.Linear(WIDTH, 20), nn.Tanh(), nn.Linear(20, 1))
else:
    model = Mean()
data = TensorDataset(torch.randn(RANKS * BATCH * steps, WIDTH))
batches = iter(DataLoader(data, batch_size=RANKS * BATCH, shuffle=True))
own = nn.Parameter(torch.ones(()))
parameters = list(model.parameters()) + ([own] if how == "own parameter" else [])
if how == "own hook":
    model.last.register_hook(lambda gradient: 0.0 * gradient)
model = wrapped(model)
optimizer = torch.optim.SGD(parameters, lr=1e-3 if how in ("network", "micro_batches") else 1e-6)
for step in range(steps):
    if how != "never zeroed":
        optimizer.zero_grad(set_to_none=how != "zeros")
    if how == "micro_batches":
        for each in range(RANKS):
            loss = loss_of(model, batch_of(step, each)) / RANKS
            loss.backward()
    else:
        if how == "raises":
            try:
                Failing.apply(own).backward()
            except RuntimeError as error:
                print(error, sum(p._backward_hooks is not None for p in parameters))
        loss = loss_of(model, batch_of(step, rank))
        if how == "own parameter":
            loss = loss + 0.0 * own
        if how == "two losses":
            (0.5 * loss).backward(retain_graph=True)
        # As in a GradScaler whose scale doubles once.
        (loss * (1024.0 if step < steps / 2 else 2048.0) if how == "scaled" else loss).backward()
    nn.utils.clip_grad_norm_(parameters, 1e-3)
    optimizer.step()
    print("loss", loss.item().hex(), sum(p._backward_hooks is not None for p in parameters))
if how.startswith("compiled"):
    print("loss of time:", dict(torch._dynamo.utils.counters["stats"]))
if how not in ALONE:
    dist.destroy_process_group()
