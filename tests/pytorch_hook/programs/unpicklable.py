# SPDX-License-Identifier: Apache-2.0
"""Spawned workers that cannot be given this data set: it holds a lambda. The program loads it in
its own process and only its validation data in a worker."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Lazy(Dataset):
    def __init__(self):
        self.make = lambda index: torch.full((5,), float(index))

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return self.make(index)

    def __reduce__(self):
        raise TypeError("this data set stays here")


if __name__ == "__main__":
    torch.manual_seed(11)
    model = nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Lazy(), batch_size=4, shuffle=True)
    for _ in range(2):
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())
