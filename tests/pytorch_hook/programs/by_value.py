# SPDX-License-Identifier: Apache-2.0
"""Pickles a model and an optimizer, whose classes this file defines, by value, as mlflow and ray do. Then another
interpreter, without this file, loads them. `scaler`: also a GradScaler."""
import subprocess
import sys

import torch
import torch.nn as nn
from joblib.externals import cloudpickle


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(5, 1)

    def forward(self, x):
        return self.last(x)


class Own(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


class Scaler(torch.cuda.amp.GradScaler):
    def scale(self, loss, factor):
        return loss * factor


LOAD = """
import pickle, sys, torch
model, optimizer, *scalers = pickle.load(sys.stdin.buffer)
model(torch.ones(2, 5)).sum().backward()
optimizer.step()
print("loaded", model(torch.ones(2, 5)).sum().item(), type(optimizer).__name__)
for scaler in scalers:
    print("scaled", scaler.scale(torch.ones(1), factor=4.0).item())
"""
torch.manual_seed(34)
model = Net()
optimizer = Own(model.parameters(), lr=0.1)
for _ in range(12):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 5)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
optimizer.zero_grad(set_to_none=True)
kept = [model, optimizer]
if "scaler" in sys.argv:
    kept.append(Scaler(enabled=False))
    scaled = kept[-1].scale(loss, factor=2.0)  # exists while the scaler is pickled
subprocess.run([sys.executable, "-E", "-c", LOAD], input=cloudpickle.dumps(kept), check=True, stdout=sys.stdout)
