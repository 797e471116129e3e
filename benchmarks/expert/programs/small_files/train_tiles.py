# SPDX-License-Identifier: Apache-2.0
"""Segmentation of tiles that are read from storage. The full set is larger than memory."""
import argparse
import os
import pathlib

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

BANDS = 8


def read_uncached(path):
    """Bytes of a file. Leaves nothing in the page cache, which other jobs need."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        data = os.read(descriptor, 1 << 16)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
    return data


class Tiles(Dataset):
    def __init__(self, folder):
        self.paths = sorted(pathlib.Path(folder).glob("*.bin"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        bands = []
        for band in range(BANDS):
            raw = read_uncached(self.paths[(index * 7 + band * 311) % len(self.paths)])
            bands.append(np.frombuffer(raw, np.uint8)[::256].astype(np.float32) / 255)
        return torch.from_numpy(np.stack(bands)), torch.tensor(index % 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch_size", type=int, default=16)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Tiles(args.folder), batch_size=args.batch_size, shuffle=True, num_workers=0, drop_last=True)
    model = torch.nn.Sequential(torch.nn.Conv1d(BANDS, 16, 5), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(16 * 252, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    seen = 0
    for epoch in range(args.epochs):
        for bands, label in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(bands), label)
            loss.backward()
            optimizer.step()
            seen += len(label)
            if seen % 80 == 0:
                print(f"epoch={epoch} samples={seen} loss={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
