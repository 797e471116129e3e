# SPDX-License-Identifier: Apache-2.0
"""Trains in another thread than the one that imports torch: everything (`all`) or the loop (`loop`). Or trains in that
thread, and loads batches in another (`batches`)."""
import queue
import sys
import threading

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make():
    torch.manual_seed(22)
    loader = DataLoader(TensorDataset(torch.randn(32, 5)), batch_size=4, shuffle=True)
    model = nn.Linear(5, 1)
    return loader, model, torch.optim.SGD(model.parameters(), lr=0.01)


def train(batches, model, optimizer):
    for (x,) in batches:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex(), flush=True)


def passes(loader):
    for _ in range(3):
        yield from loader


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def train_all():
    loader, model, optimizer = make()
    train(passes(loader), model, optimizer)


way = sys.argv[1]
if way == "all":
    in_thread(train_all).join()
elif way == "loop":
    loader, model, optimizer = make()
    in_thread(lambda: train(passes(loader), model, optimizer)).join()
else:
    loader, model, optimizer = make()
    loaded = queue.Queue(maxsize=2)

    def load():
        for batch in passes(loader):
            loaded.put(batch)
        loaded.put(None)

    in_thread(load)
    train(iter(loaded.get, None), model, optimizer)
