# SPDX-License-Identifier: Apache-2.0
"""Has its own batch sampler, whose length draws all batches again, which takes long. It draws from PyTorch's generator and
Python's."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

_MOST_COUNTS = 10


class Buckets:
    counts = 0

    def batches(self):
        batches = torch.randperm(160).view(-1, 4).tolist()
        random.shuffle(batches)
        return batches

    def __iter__(self):
        return iter(self.batches())

    def __len__(self):
        self.counts += 1
        return len(self.batches())


torch.manual_seed(26)
random.seed(27)
buckets = Buckets()
loader = DataLoader(TensorDataset(torch.randn(160, 5)), batch_sampler=buckets)
model = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
print("counted more than", _MOST_COUNTS, "times:", buckets.counts > _MOST_COUNTS)
