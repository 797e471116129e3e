# SPDX-License-Identifier: Apache-2.0
import argparse
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset


class PackedImages(Dataset):
    """Compressed pictures in memory. Unpacking, cropping and scaling take some milliseconds each."""

    def __init__(self, n):
        rng = np.random.default_rng(1)
        self.blobs = []
        for _ in range(64):
            smooth = np.add.outer(np.arange(320), np.arange(320))[..., None] + rng.integers(0, 24, (320, 320, 3))
            self.blobs.append(zlib.compress((smooth % 256).astype(np.uint8).tobytes(), 6))
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = np.frombuffer(zlib.decompress(self.blobs[i % 64]), np.uint8).reshape(320, 320, 3)
        image = image[:256, :256].astype(np.float32).reshape(32, 8, 32, 8, 3).mean(axis=(1, 3))
        return torch.from_numpy(image.transpose(2, 0, 1) / 255.0), i % 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, stride=2)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2)
        self.fc = nn.Linear(24 * 7 * 7, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


def train(args, model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                epoch, batch_idx * len(data), len(loader.dataset), 100. * batch_idx / len(loader), loss.item()))


def main():
    parser = argparse.ArgumentParser(description='small pictures')
    parser.add_argument('--batch-size', type=int, default=16, metavar='N', help='input batch size (default: 16)')
    parser.add_argument('--epochs', type=int, default=40, metavar='N', help='number of epochs (default: 40)')
    parser.add_argument('--lr', type=float, default=0.01, metavar='LR', help='learning rate (default: 0.01)')
    parser.add_argument('--seed', type=int, default=1, metavar='S', help='random seed (default: 1)')
    parser.add_argument('--log-interval', type=int, default=5, metavar='N', help='batches between log lines')
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    loader = DataLoader(PackedImages(16000), batch_size=args.batch_size, shuffle=True)
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        train(args, model, loader, optimizer, epoch)


if __name__ == '__main__':
    main()
