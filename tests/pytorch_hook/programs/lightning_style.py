# SPDX-License-Identifier: Apache-2.0
"""A loop in the style of Lightning: `training_step` instead of `forward`, always a closure, an
optimizer wrapped in a dynamic subclass, a sanity check before training."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class LightningOptimizer:
    def __init__(self, optimizer):
        self.__dict__ = {k: v for k, v in vars(optimizer).items() if k not in ("step", "__del__")}
        name = "Lightning" + type(optimizer).__name__
        self.__class__ = type(name, (LightningOptimizer, type(optimizer)), {})
        self._optimizer = optimizer

    def step(self, closure):
        return self._optimizer.step(closure=closure)


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, width), nn.ReLU())
        self.head = nn.Linear(width, 3)

    def training_step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.head(self.encoder(x)), y)

    validation_step = training_step


class Trainer:
    def fit(self, model, train_loader, validation_loader, epochs):
        optimizer = LightningOptimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
        self.validate(model, validation_loader, batches=1)
        for _ in range(epochs):
            model.train()
            for batch in train_loader:

                def closure():
                    loss = model.training_step(batch)
                    optimizer.zero_grad()
                    loss.backward()
                    print("loss", loss.item().hex())
                    return loss.detach()

                optimizer.step(closure)
            self.validate(model, validation_loader)

    def validate(self, model, loader, batches=None):
        model.eval()
        with torch.inference_mode():
            for index, batch in enumerate(loader):
                model.validation_step(batch)
                if batches is not None and index + 1 >= batches:
                    break
        model.train()


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--items", type=int, default=60)
parser.add_argument("--batch-size", type=int, default=10)
parser.add_argument("--width", type=int, default=8)
arguments = parser.parse_args()
torch.manual_seed(2)
items = arguments.items
data = TensorDataset(torch.randn(items, 10), torch.randint(0, 3, (items,)))
train = DataLoader(data, batch_size=arguments.batch_size, shuffle=True)
validation = DataLoader(data, batch_size=3 * arguments.batch_size)
Trainer().fit(Classifier(arguments.width), train, validation, epochs=arguments.epochs)
