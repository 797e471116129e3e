# SPDX-License-Identifier: Apache-2.0
"""An optimizer for each parameter, which steps as soon as its gradient is there: in the thread that calls `backward`
(`caller`), or in a thread that is not Python's (`engine`), as autograd does on a GPU. `clears`: each has momentum, and clears
its gradients."""
import _thread
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)
model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
CLEARS = "clears" in sys.argv
optimizers = {
    parameter: torch.optim.SGD([parameter], lr=0.1, momentum=0.5 if CLEARS else 0.0) for parameter in model.parameters()
}


def step(parameter, gradient):
    parameter.grad = gradient
    optimizers[parameter].step()
    parameter.grad = None
    if CLEARS:
        optimizers[parameter].zero_grad()


def step_elsewhere(parameter, gradient):
    done = _thread.allocate_lock()
    done.acquire()

    def work():
        try:
            step(parameter, gradient)
        finally:
            done.release()

    _thread.start_new_thread(work, ())
    done.acquire()


for parameter in model.parameters():
    make = step_elsewhere if sys.argv[1] == "engine" else step
    parameter.register_hook(lambda gradient, parameter=parameter, make=make: make(parameter, gradient.clone()))
for _ in range(2):
    for (x,) in DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=4):
        loss = model(x).pow(2).mean()
        loss.backward()
        model.zero_grad(set_to_none=True)
        print("loss", loss.item().hex())
