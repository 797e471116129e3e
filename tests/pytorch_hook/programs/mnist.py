# SPDX-License-Identifier: Apache-2.0
"""An image classifier in the style of PyTorch's MNIST example: dropout, evaluation, checkpoints."""
import io
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(4 * 10 * 10, 10)

    def forward(self, x):
        x = torch.flatten(F.relu(self.conv(x)), 1)
        return F.log_softmax(self.fc(self.dropout(x)), dim=1)


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), data.sum().item().hex())


def test(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for data, target in loader:
            total += F.nll_loss(model(data), target, reduction="sum").item()
    print("test", total.hex())


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    torch.manual_seed(1)
    images = torch.randn(80, 1, 12, 12)
    labels = torch.randint(0, 10, (80,))
    train_loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
    test_loader = DataLoader(TensorDataset(images[:32], labels[:32]), batch_size=16)
    model = Net()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for _ in range(epochs):
        train(model, train_loader, optimizer)
        test(model, test_loader)
        scheduler.step()
    torch.save(model.state_dict(), io.BytesIO())


if __name__ == "__main__":
    main()
