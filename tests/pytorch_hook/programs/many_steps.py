# SPDX-License-Identifier: Apache-2.0
"""Six hundred short steps. `tensors`: a worker's batches are tensors, not lists. `filtered`: batches of several sizes.
`own_gradients`: sets gradients without `backward`. `own_step`: an optimizer whose step calls its base class. `scheduler`:
of the learning rate. `profiled`: uses a profiler once. Prints steps, samples and the types in which the forward
computed."""

import collections
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, default_collate

torch.manual_seed(23)
what = sys.argv[1:]
types = collections.Counter()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 1)

    def forward(self, x):
        hidden = self.first(x)
        types[str(hidden.dtype)] += 1
        return self.second(hidden)


class Own(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


def without_some(items):
    return default_collate([item for item in items if item[0][0] > -1.0])


items = list(torch.randn(3000, 4)) if "tensors" in what else [(x, x.sum()) for x in torch.randn(3000, 4)]
collate = without_some if "filtered" in what else None
loader = DataLoader(items, batch_size=10, num_workers=1 if "tensors" in what else 0, collate_fn=collate)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
if "own_step" in what:
    optimizer = Own(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100) if "scheduler" in what else None
steps = samples = 0
for _ in range(2):
    for batch in loader:
        x = batch if "tensors" in what else batch[0]
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        if "own_gradients" in what:
            for parameter, gradient in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
                parameter.grad = gradient
        else:
            loss.backward()
        if "profiled" in what and steps == 400:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True):
                optimizer.step()
        else:
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        steps += 1
        samples += len(x)
print(steps, samples, dict(types))
