# SPDX-License-Identifier: Apache-2.0
"""A loader that reads all passes from one endless iterator, as ultralytics' and timm's loaders do."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Repeated:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from self.sampler


class EndlessLoader(DataLoader):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        object.__setattr__(self, "batch_sampler", Repeated(self.batch_sampler))
        self.iterator = None

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        if self.iterator is None:
            self.iterator = self._get_iterator()
        for _ in range(len(self)):
            yield next(self.iterator)


torch.manual_seed(9)
order = torch.Generator().manual_seed(4)
data = TensorDataset(torch.randn(40, 5))
loader = EndlessLoader(data, batch_size=8, shuffle=True, num_workers=1, generator=order)
model = nn.Sequential(nn.Linear(5, 8), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(model.parameters())
for epoch in range(3):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
