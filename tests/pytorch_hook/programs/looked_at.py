# SPDX-License-Identifier: Apache-2.0
"""Reads some of its data without training on it. The first argument says which data:
`peek`: a batch of the test loader (as in PyTorch's first tutorial); `pictures`: the same, after each pass.
`statistics`: all training batches; `other`: all test batches.
`size`, `sizes`: one or two batches of the training loader before each pass (as in PyTorch's DistributedDataParallel
tutorial).
`unseen`: one training batch; then tests without calling the model, before a pass that starts slowly.
`tasks`: none; each step trains on two batches, each the first of its pass."""
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

way = sys.argv[1]
looks_at_training = {"size": 1, "sizes": 2, "unseen": 1}.get(way, 0)


class Rows(TensorDataset):
    is_slow = False

    def __getitem__(self, index):
        if self.is_slow:
            time.sleep(0.1)
        self.is_slow = False
        return super().__getitem__(index)


torch.manual_seed(33)
rows = Rows(torch.randn(16, 5))
train = DataLoader(rows, batch_size=4)
test = DataLoader(TensorDataset(torch.randn(24, 5)), batch_size=8)
for (x,) in [] if looks_at_training or way in ("pictures", "tasks") else train if way == "statistics" else test:
    print(x.shape, x.mean().item().hex())
    if way == "peek":
        break
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(8 if way == "tasks" else 0):
    (support,), (query,) = next(iter(train)), next(iter(train))
    optimizer.zero_grad()
    loss = model(support).pow(2).mean() + model(query).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
for _ in range(0 if way == "tasks" else 3):
    for _ in range(looks_at_training):
        print(len(next(iter(train))[0]))
    if way == "unseen":
        with torch.no_grad():
            print("test", sum((x @ model.weight.t()).sum().item() for (x,) in test).hex())
        rows.is_slow = True
    for (x,) in train:
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item().hex())
    if way == "pictures":
        print(next(iter(test))[0].shape)
    model.eval()
    with torch.no_grad():
        print("test", sum(model(x).pow(2).mean().item() for (x,) in test).hex())
    model.train()
