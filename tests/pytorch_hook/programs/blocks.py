# SPDX-License-Identifier: Apache-2.0
"""Trains repeated blocks with dropout and running statistics. The argument selects a variant of the blocks. The last line
prints how often blocks computed, and the bytes that the first forward pass saves for the backward pass, without recomputed
parts; only "large" counts them."""
import contextlib
import sys

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

kind = sys.argv[1] if len(sys.argv) > 1 else "usual"
WIDTH = 64
computed = 0


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, 4 * WIDTH)
        if kind == "spectral":
            self.inner = nn.utils.spectral_norm(self.inner)
        self.norm = nn.BatchNorm1d(4 * WIDTH)
        self.dropout = nn.Dropout(0.2)
        self.outer = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, scale=1.0, cache=None):
        global computed
        computed += 1
        if kind == "in_place":
            x.mul_(0.5)
        if kind == "overwritten":
            x = x.tanh()  # its backward pass needs only its output
        if cache is not None:
            cache.append(x)
            x = sum(cache) / len(cache)
        return {"x": x + scale * self.dropout(self.outer(self.norm(self.inner(x)).tanh()))}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if kind == "no_blocks":
            self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
            self.blocks = nn.ModuleList()
        else:
            self.layers = nn.Linear(WIDTH, WIDTH) if kind == "reentrant" else nn.Identity()
            self.blocks = nn.ModuleList(Block() for _ in range(6))

    def forward(self, x):
        x = self.layers(x * 1.0)
        cache = [] if kind == "cache" else None
        for block in self.blocks:
            if kind == "own" and self.training:
                x = checkpoint(block, x, scale=0.5, use_reentrant=False, preserve_rng_state=True)["x"]
            elif kind == "reentrant" and self.training:
                x = checkpoint(lambda y, block=block: block(y)["x"], x, use_reentrant=True)
            elif kind == "untrained" and self.training and block is self.blocks[0]:
                x = checkpoint(lambda y, block=block: block(y)["x"], x, use_reentrant=True)
            else:
                before, x = x, block(x, scale=0.5, cache=cache)["x"]
                if kind == "overwritten" and self.training:
                    before.mul_(3)
        return x


kept = 0


def keep(tensor):
    global kept
    kept += tensor.numel() * tensor.element_size()
    return tensor


torch.manual_seed(16)
batch = 4096 if kind == "large" else 32
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(batch, WIDTH)
for step in range(2 if kind == "large" else 6):
    optimizer.zero_grad()
    counted = kind == "large" and step == 0
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x) if counted else contextlib.nullcontext():
        output = model(data)
    loss = (output - data.roll(1, 1)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
    if step == 3:
        model.eval()
        with torch.no_grad():
            print("evaluation", model(data[:8]).sum().item().hex())
        model.train()
for name, value in sorted(model.state_dict().items()):
    print(name, value.double().sum().item().hex())
print("blocks computed", computed, "kept bytes", kept)
