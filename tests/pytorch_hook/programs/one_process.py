# SPDX-License-Identifier: Apache-2.0
"""Knows of one process only: no ranks, no samplers of its own. Its options are what such programs do."""
import copy
import io
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.adam import Adam
from torch.utils.data import DataLoader, Sampler, TensorDataset

OPTIONS = sys.argv[1:]
FOLDER = next((option for option in OPTIONS if os.path.isdir(option)), None)


def asked(option):
    return "--" + option in OPTIONS


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.last = nn.Linear(16, 16)

    def forward(self, x):
        return x + self.last(torch.tanh(self.first(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(3 if asked("blocks") else 0)))
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16) if asked("norm") else nn.Identity()
        self.last = nn.Linear(16, 3)
        self.unused = nn.Linear(2, 2) if asked("unused") else None
        self.sometimes = nn.Linear(6, 3) if asked("sometimes") or asked("from-step-five") else None
        self.image = nn.Conv2d(1, 1, 3, padding=1) if asked("images") else None
        self.calls = 0
        if asked("tied"):
            self.blocks[1].last.weight = self.blocks[0].last.weight
        if asked("frozen"):
            self.blocks[2].first.requires_grad_(False)

    def forward(self, x):
        if self.image is not None:
            x = self.image(x.reshape(-1, 1, 2, 3)).reshape(-1, 6)
        y = self.last(self.blocks(torch.tanh(self.norm(self.first(x)))))
        self.calls += 1
        if asked("from-step-five"):
            return y + self.sometimes(x) if self.calls < 5 else y
        if self.sometimes is not None and (len(x) > 1 or x[0, 0] > 0.7):
            y = y + self.sometimes(x)
        return y


class Doubled(Net):
    def __call__(self, x):
        return 2 * super().__call__(x)


class Reversed(Sampler):
    """Draws a number for each index."""

    def __init__(self, data):
        self.data = data

    def __iter__(self):
        for index in reversed(range(len(self.data))):
            torch.rand(())
            yield index

    def __len__(self):
        return len(self.data)


class Caching(TensorDataset):
    """Keeps what it has made in files."""

    def __getitem__(self, index):
        torch.save(self.tensors[0][index], os.path.join(FOLDER, str(index)))
        return super().__getitem__(index)


class OwnAdam(torch.optim.Adam):
    pass


def parameters(model):
    if asked("groups"):
        return [{"params": (p for p in layer.parameters())} for layer in (model.first, model.last)]
    if asked("outside"):
        return list(model.parameters()) + [temperature]
    if asked("frozen-outside"):
        return list(model.parameters()) + [torch.ones(2)]
    return model.parameters()


class LayerWise(torch.optim.SGD):
    """Decides by whole parameters."""

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data -= group["lr"] * parameter.grad / parameter.grad.norm()


def make_optimizer():
    if asked("other"):
        return torch.optim.SGD([temperature], 0.01)
    if asked("layer-wise"):
        return LayerWise(model.parameters(), 0.01)
    if asked("adagrad"):
        return torch.optim.Adagrad(parameters(model), 0.05)
    cls = OwnAdam if asked("own-optimizer") else Adam if asked("imported-optimizer") else torch.optim.Adam
    optimizer = cls(parameters(model), 0.01, betas=(0.8, 0.99))
    assert isinstance(optimizer, torch.optim.Adam)
    assert isinstance(optimizer, OwnAdam) == asked("own-optimizer")
    return optimizer


def clip():
    if asked("clip"):
        print("norm %.6f" % nn.utils.clip_grad_norm_(model.parameters(), 0.2), flush=True)
    if asked("clip-strictly"):
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.fill_(float("inf"))
        nn.utils.clip_grad_norm_(model.parameters(), 0.2, error_if_nonfinite=True)
    if asked("clip-part"):
        nn.utils.clip_grad_norm_(model.last.parameters(), 0.2)


def saves():
    return not asked("guarded") or os.environ.get("RANK", "0") == "0"


def evaluate(batches):
    model.eval()
    count, loss = 0, 0.0
    for x, y in batches:
        with torch.no_grad():
            loss += F.cross_entropy(model(x), y, reduction="sum").item()
        count += len(x)
    print("evaluated", loss / count, count, flush=True)


def checkpoint(path):
    states = [model.state_dict()] if asked("weights") else [model.state_dict(), optimizer.state_dict()]
    if asked("open"):
        with open(path, "wb") as file:
            torch.save(states, file)
    else:
        beside = path + (".%d" % os.getpid() if asked("replace") else "")
        torch.save(states, beside)
        if asked("replace"):
            os.replace(beside, path)
    if asked("reload"):
        states = torch.load(path)
        model.load_state_dict(states[0])
        optimizer.load_state_dict(states[1])


torch.manual_seed(torch.seed() if asked("unseeded") else 11)
inputs = torch.linspace(-1, 1, 68 * 6).sin().mul(7).cos().reshape(68, 6)
data = (Caching if FOLDER else TensorDataset)(inputs, (inputs.sum(dim=1) * 3).long().remainder(3))
size = int(OPTIONS[OPTIONS.index("--batch") + 1]) if asked("batch") else 8
loader = DataLoader(data, batch_size=size, shuffle=True)
if asked("sampler"):
    loader = DataLoader(data, batch_size=size, sampler=Reversed(data))
validation = DataLoader(TensorDataset(*(tensor[:30] for tensor in data.tensors)), batch_size=7)
model = Doubled() if asked("call") else Net()
temperature = torch.ones((), requires_grad=True)
if asked("unfreeze"):
    model.first.requires_grad_(False)
optimizer = make_optimizer()
scaler = torch.amp.GradScaler("cpu") if asked("scaler") else None
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
if asked("dry-run"):
    model(inputs[:2])
if asked("validate"):
    evaluate(validation)
for epoch in range(2):
    if asked("unfreeze") and epoch == 1:
        model.first.requires_grad_(True)
    model.train(not asked("evaluation-mode") and not asked("mode-in-loop"))
    for number, (x, y) in enumerate(loader):
        if asked("mode-in-loop"):
            model.train()
        if number % 3 == 0 or not asked("accumulate"):
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x) / temperature, y)
        if asked("scaler"):
            loss = scaler.scale(loss)
        loss.backward(retain_graph=asked("twice"))
        if asked("twice"):
            loss.backward()
        if number % 3 < 2 and asked("accumulate"):
            continue
        clip()
        if asked("call-part"):
            model.first(inputs[:2])
        optimizer.step()
    scheduler.step()
    if asked("validate"):
        evaluate(validation)
        evaluate(loader)
    evaluate([data.tensors])
    for option in OPTIONS:
        if option.endswith(".pt") and saves():
            checkpoint(option)
    if asked("copy"):
        copy.deepcopy(model)
    if asked("part"):
        torch.save(model.first.state_dict(), io.BytesIO())
    if asked("states"):
        print("states", len(optimizer.state_dict()["state"]))
