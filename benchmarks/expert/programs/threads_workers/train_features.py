# SPDX-License-Identifier: Apache-2.0
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class SmoothedPatches(Dataset):
    """Each item is computed by PyTorch operations that run on several threads."""

    def __init__(self):
        self.base = None

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        if self.base is None:  # not in __init__: a worker forked after a parallel operation would hang in PyTorch 2
            self.base = torch.linspace(-2, 2, 512 * 384).reshape(512, 384)
        patch = self.base * (1 + index % 7)
        for _ in range(3):
            patch = torch.tanh(patch + 0.1)
        return patch.mean(dim=0), torch.tensor(index % 4)


def use_all_cores(worker):
    torch.set_num_threads(8)


def main(steps):
    loader = DataLoader(SmoothedPatches(), batch_size=8, num_workers=4, worker_init_fn=use_all_cores)
    model = torch.nn.Linear(384, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for number, (patches, labels) in enumerate(loader, start=1):
        loss = torch.nn.functional.cross_entropy(model(patches), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if number % 5 == 0:
            print(number, "batches, mean loss", round(total / number, 4), flush=True)
        if number == steps:
            break


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)
