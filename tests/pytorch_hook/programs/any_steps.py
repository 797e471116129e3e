# SPDX-License-Identifier: Apache-2.0
"""Trains in random ways: in each step, the seed decides the calls between fetching a batch and the optimizer's step."""
import io
import random
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

draw = random.Random(int(sys.argv[1]))
torch.manual_seed(23)


def loader(batch_size):
    return DataLoader(TensorDataset(torch.randn(10, 5)), batch_size=batch_size)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 1)

    def forward(self, x):
        if x is None:
            raise ValueError("nothing to compute with")
        return self.linear(x)


def batches_of(source):
    while True:
        for (x,) in source:
            yield x


sources = [loader(4), loader(3), loader(2)]
streams = [batches_of(source) for source in sources]
early = [iter(loader(4)), iter(loader(3))]
model = Net()
teacher = Net()
scaler = torch.cuda.amp.GradScaler()
optimizers = [torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.5)]
kept = torch.randn(4, 5)
likes = [draw.choice((0, 0, 0, 0, 0, 0.1, 0.4)) for _ in range(20)]  # chance of each of these in this program


def does(what):
    return draw.random() < likes[what]


def batch():
    global kept
    if does(0):
        return kept
    if does(1):
        kept = next(streams[1])
    elif does(2):
        try:
            with torch.set_grad_enabled(not does(19)):
                kept = next(draw.choice(early))[0]
        except StopIteration:
            early.append(iter(loader(2)))
    else:
        kept = next(streams[0])
    return kept


def looks_aside(x):
    if does(3):
        with torch.no_grad():
            model(x)
    if does(4):
        model.eval()
        with torch.no_grad():
            for (other,) in sources[2]:
                model(other)
        model.train()
    if does(5):
        torch.save(model.state_dict(), io.BytesIO())
    if does(6):
        other = draw.choice((teacher, model)).eval()
        other(x)
        other.train()
    if does(7):
        next(streams[2])


def train_on(x):
    global model
    if does(8):
        try:
            model(None)
        except ValueError:
            pass
    outputs = model.forward(x) if does(9) else model(x)
    looks_aside(x)
    if does(10):
        batch()
    loss = outputs.pow(2)
    try:
        if does(11):
            loss.backward()
        elif does(12):
            losses = [loss.mean(), loss.sum()]
            torch.autograd.backward(iter(losses) if does(12) else losses)
        else:
            scaled = scaler.scale(loss.mean()) if is_scaled else loss.mean()
            scaled.backward(retain_graph=does(12))
    except RuntimeError:
        pass


def takes_step(optimizer, x):
    def closure():
        train_on(x)
        if does(17):
            raise ValueError("no loss")

    gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
    if is_scaled and all(gradient is not None for gradient in gradients):
        if does(16):
            gradients[0].fill_(float("inf"))
        scaler.step(optimizer)
    elif does(18):
        try:
            optimizer.step(closure)
        except ValueError:
            pass
    else:
        optimizer.step()


is_scaled = draw.random() < 0.25
accumulated = draw.choice((1, 1, 2, 3))
for step in range(draw.choice((12, 40))):
    if does(13):
        accumulated = draw.choice((1, 1, 2, 3))
    for _ in range(accumulated):
        x = batch()
        looks_aside(x)
        train_on(x)
    looks_aside(x)
    if does(14):
        model = Net()
        optimizers[0] = torch.optim.SGD(model.parameters(), lr=0.001)
    if does(15):
        optimizers[1:] = [torch.optim.Adam(model.parameters(), lr=0.001)][: draw.choice((0, 1))]
    for optimizer in optimizers:
        takes_step(optimizer, x)
        if does(15):
            train_on(x)
    for optimizer in optimizers:
        optimizer.zero_grad(*([True] if does(13) else []))
    looks_aside(x)
    print("step", step, float(model.linear.bias.sum()).hex(), flush=True)
if does(10):
    train_on(batch())
