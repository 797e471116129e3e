# SPDX-License-Identifier: Apache-2.0
"""Reads as Hugging Face's Trainer does: a loader of accelerate fetches a batch before it returns the one before, and the
Trainer fetches all micro-batches of a step first. `single`: one micro-batch a step; `double`: each forward takes two
texts of a sample (DPO); `twice`: two forwards for each backward; `joined`: one forward for all micro-batches; `stopped`:
passes end early."""
import sys
import types

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

module = sys.modules["accelerate.data_loader"] = types.ModuleType("accelerate.data_loader")
exec(
    """
def one_ahead(loader):
    iterator = loader.__iter__()
    current = next(iterator)
    for following in iterator:
        yield current
        current = following
    yield current
""",
    module.__dict__,
)
way = sys.argv[1]
micro_batches = 1 if way == "single" else 3
torch.manual_seed(31)
loader = DataLoader(TensorDataset(torch.randn(42, 5)), batch_size=4, shuffle=True)  # 11 batches, the last of two samples
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def loss_of(x):
    if way == "double":
        return model(torch.cat([x, -x])).pow(2).mean()
    if way == "twice":
        return model(x).pow(2).mean() + model(-x).pow(2).mean()
    return model(x).pow(2).mean()


samples = 0
for _ in range(4):
    batches = module.one_ahead(loader)
    for step in range(-(-len(loader) // micro_batches)):
        of_step = [x for _, (x,) in zip(range(micro_batches), batches)]
        if way == "joined":
            of_step = [torch.cat(of_step)]
        total = 0.0
        for x in of_step:
            loss = loss_of(x)
            loss.backward()
            samples += len(x)
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        print("samples %d loss %s" % (samples, total.hex()))
        if way == "stopped" and step == 1:
            break
