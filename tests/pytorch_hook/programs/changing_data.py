# SPDX-License-Identifier: Apache-2.0
"""A data set that changes with the epoch. Persistent workers would not see the change. The argument `large` gives it an
array of 64 MiB."""
import sys

import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Curriculum(Dataset):
    epoch = 0

    def __init__(self):
        self.rows = numpy.zeros(1 << 26 if "large" in sys.argv else 1, numpy.uint8)
        with torch.inference_mode():
            self.features = torch.ones(5)  # an inference tensor has no version counter

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.full((5,), float(index + 100 * self.epoch))


torch.manual_seed(10)
dataset = Curriculum()
loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=1)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for epoch in range(3):
    dataset.epoch = epoch
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
