# SPDX-License-Identifier: Apache-2.0
"""Makes objects with reference cycles in each step. `off`: without automatic collection. `frozen`: freezes existing objects.
`enables`: enables collection later. `workers`: workers report if collection is automatic. Prints how many objects are left at
most, if any are frozen, and if collection is automatic."""
import gc
import sys
import weakref

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
what = sys.argv[1:]
alive = weakref.WeakSet()


class Node:
    def __init__(self):
        self.itself = self
        alive.add(self)


class Data:
    def __len__(self):
        return 240

    def __getitem__(self, index):
        return torch.full((4,), float(gc.isenabled()))


if "off" in what:
    gc.disable()
if "frozen" in what:
    gc.freeze()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
most = 0
for step, batch in enumerate(DataLoader(Data(), batch_size=2, num_workers=1 if "workers" in what else 0)):
    if step == 30 and "enables" in what:
        gc.enable()
    for _ in range(4):
        Node()
    most = max(most, len(alive))
    optimizer.zero_grad()
    loss = model(batch if "workers" in what else torch.ones(2, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex(), "collects" if "workers" in what and batch.all() else "")
print("most %d, frozen %s, automatic %s" % (most, gc.get_freeze_count() > 0, gc.isenabled()), file=sys.stderr)
