# SPDX-License-Identifier: Apache-2.0
"""Trains on records of a remote feature store. Each record is one request of 20 ms."""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH_SIZE = 8
EPOCHS = 200


class RemoteRecords(Dataset):
    def __init__(self, count=4000):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.02)
        features = torch.full((256,), (index % 10) / 10.0)
        features[index % 256] += 1.0
        return features, index % 10


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(RemoteRecords(), batch_size=BATCH_SIZE, shuffle=True)
    for epoch in range(EPOCHS):
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            print(f"Epoch {epoch} [{i + 1}/{len(loader)}] loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
