# SPDX-License-Identifier: Apache-2.0
"""An iterable data set without sharding. `sized`: its length is too small; PyTorch warns of that if the loader's length was
asked for before the pass."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(0)
        for _ in range(40):
            yield torch.randn(5, generator=generator)


class Sized(Stream):
    def __len__(self):
        return 3


torch.manual_seed(7)
sized = DataLoader(Sized(), batch_size=8)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x in sized if "sized" in sys.argv else DataLoader(Stream(), batch_size=8):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
