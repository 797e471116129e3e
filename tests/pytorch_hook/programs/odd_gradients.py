# SPDX-License-Identifier: Apache-2.0
"""Uses gradients in other ways than training on them. The argument names the way; see below."""
import sys
import threading

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

WHAT = sys.argv[-1]
FRESH = "fresh" in sys.argv
torch.manual_seed(19)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.last = nn.Linear(8, 1)
        self.words = nn.Embedding(4, 6, sparse=True) if WHAT == "sparse" else None

    def forward(self, x):
        if WHAT == "sparse":
            x = x + self.words(torch.arange(len(x)) // 2)
        hidden = torch.tanh(self.first(x))
        if WHAT == "within":
            hidden.register_hook(lambda gradient: print("within", gradient.sum().item().hex()))
        if WHAT == "autocast":
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.last(hidden).float()
        if WHAT == "retained":
            hidden.retain_grad()
            seen.append(hidden)
        return self.last(hidden)


class TwoLosses(torch.optim.SGD):
    """Makes half a step, and then a whole one by the gradients there, as in sharpness-aware minimisation."""

    def step(self, closure):
        with torch.enable_grad():
            closure()
        super().step()
        with torch.enable_grad():
            loss = closure()
        super().step()
        return loss


def loss_of(x):
    if WHAT == "attack":
        x.requires_grad_(True)
    if WHAT == "shift":
        x = x + shift
    return model(x).pow(2).mean()


def backward(loss):
    if WHAT == "create_graph":
        loss.backward(create_graph=True)
    elif WHAT == "some":
        loss.backward(inputs=list(model.parameters()))
    elif WHAT == "grad":
        for parameter, gradient in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
            parameter.grad = gradient
    elif WHAT == "seeded":
        loss.view(1).backward(torch.tensor([0.5]))
    elif WHAT == "threads":
        other = threading.Thread(target=loss.backward)
        loss.backward(retain_graph=True)
        other.start()
        other.join()
    elif WHAT == "several":
        torch.autograd.backward([loss, loss * 2], retain_graph=True)
    else:
        loss.backward()


seen = []
loader = DataLoader(TensorDataset(torch.randn(64, 6)), batch_size=4)
model = Net()
shift = torch.zeros(6, requires_grad=True)
if WHAT == "double":
    model.double()
    torch.set_default_dtype(torch.double)
if WHAT == "module_hook":
    model.last.register_full_backward_hook(lambda _, inputs, outputs: print("outputs", outputs[0].sum().item().hex()))
if WHAT == "anomalies":
    torch.autograd.set_detect_anomaly(True)
optimizer = (TwoLosses if WHAT == "two_losses" else torch.optim.SGD)(model.parameters(), lr=0.1)
for (x,) in loader:
    if FRESH:
        shift = torch.zeros(6, requires_grad=True)
    x = x.to(torch.get_default_dtype())

    def closure():
        optimizer.zero_grad()
        loss = loss_of(x)
        backward(loss)
        return loss

    if WHAT == "two_losses":
        loss = optimizer.step(closure)
    else:
        loss = closure()
        if WHAT == "strict":
            print("norm", nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True).item().hex())
        optimizer.step()
    for tensor in (x, shift, *seen):
        if tensor.requires_grad and tensor.grad is not None:
            print("gradient", tensor.grad.sum().item().hex())
    del seen[:]
    print("loss", loss.item().hex())
