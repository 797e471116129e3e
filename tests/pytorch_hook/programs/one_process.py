# SPDX-License-Identifier: Apache-2.0
"""Knows only one process: no ranks, no samplers of its own. Options name common habits of such programs."""
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Sampler, TensorDataset

OPTIONS = sys.argv[1:]
FOLDER = next((option for option in OPTIONS if os.path.isdir(option)), None)


def asked(option):
    return "--" + option in OPTIONS


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16) if asked("norm") else nn.Identity()
        self.last = nn.Linear(16, 3)
        self.unused = nn.Linear(2, 2) if asked("unused") else None
        self.sometimes = nn.Linear(6, 3) if asked("sometimes") or asked("from-step-five") else None
        self.calls = 0

    def forward(self, x):
        y = self.last(torch.tanh(self.norm(self.first(x))))
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
    """Keeps generated items in files."""

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
    return model.parameters()


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
optimizer = (OwnAdam if asked("own-optimizer") else torch.optim.Adam)(parameters(model), 0.01, betas=(0.8, 0.99))
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
if asked("dry-run"):
    model(inputs[:2])
if asked("validate"):
    evaluate(validation)
for epoch in range(2):
    if asked("unfreeze") and epoch == 1:
        model.first.requires_grad_(True)
    model.train(not asked("evaluation-mode") and not asked("mode-in-loop"))
    for x, y in loader:
        if asked("mode-in-loop"):
            model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x) / temperature, y)
        loss.backward(retain_graph=asked("twice"))
        if asked("twice"):
            loss.backward()
        optimizer.step()
    scheduler.step()
    if asked("validate"):
        evaluate(validation)
        evaluate(loader)
    evaluate([data.tensors])
    for option in OPTIONS:
        if option.endswith(".pt") and saves():
            checkpoint(option)
