# SPDX-License-Identifier: Apache-2.0
"""Loads without workers, in which its items cannot be loaded: from the sixth batch on, or no batch at all, because
`worker_init_fn` counts on workers (mmengine's). `all`: one item cannot be loaded anywhere."""
import sys

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

torch.manual_seed(36)
way = sys.argv[1]


class Data(Dataset):
    def __init__(self):
        self.x = torch.randn(48, 5)
        self.served = 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        self.served += 1
        if way == "items" and get_worker_info() is not None and self.served > 20:
            raise OSError("no such device in a worker")
        if way == "all" and index == 47:
            raise ValueError("item 47 is damaged")
        return self.x[index]


def begin_worker(worker):
    torch.manual_seed(None * worker)


init = begin_worker if way == "begin" else None
loader = DataLoader(Data(), batch_size=4, shuffle=way != "all", worker_init_fn=init)
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    try:
        for x in loader:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())
    except ValueError as error:
        print(type(error).__name__, "damaged" in str(error))
