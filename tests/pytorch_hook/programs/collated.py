# SPDX-License-Identifier: Apache-2.0
"""Batches whose first dimension is not the number of samples: lists of pictures of several sizes, as in detection (`lists`),
lists of samples (`items`), sequences first (`sequences`), and two rows of each sample, as in preference data (`pairs`). With
`views`, a batch has two tensors with a view of each sample, so their first dimension is the number of samples."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.sampler import BatchSampler, SequentialSampler


class Pictures(Dataset):
    def __len__(self):
        return 22

    def __getitem__(self, index):
        return torch.full((3, 2 + index % 3), float(index)), index % 2


class Sequences(Dataset):
    def __len__(self):
        return 22

    def __getitem__(self, index):
        return torch.full((3, 2), float(index)), index % 2


def views(samples):
    pictures = torch.stack([picture for picture, _ in samples])
    return [pictures, pictures + 1.0], torch.tensor([label for _, label in samples])


def pairs(samples):
    first, labels = views(samples)
    return [torch.cat(first), labels]


def sequences_first(samples):
    return torch.stack([sequence for sequence, _ in samples], dim=1)


way = sys.argv[1]
data = Pictures() if way in ("lists", "items") else Sequences()
collate = {"lists": lambda samples: tuple(zip(*samples)), "items": list, "views": views, "sequences": sequences_first}
collate["pairs"] = pairs
batches = BatchSampler(SequentialSampler(data), 4, drop_last=False)
loader = DataLoader(data, batch_sampler=batches, collate_fn=collate[way])
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for batch in loader:
    if way == "lists":
        values = torch.cat([picture.flatten() for picture in batch[0]])
    elif way == "items":
        values = torch.cat([picture.flatten() for picture, _ in batch])
    else:
        values = (batch if way == "sequences" else batch[0] if way == "pairs" else batch[0][0]).flatten()
    optimizer.zero_grad()
    loss = model(values[:, None]).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex(), flush=True)
