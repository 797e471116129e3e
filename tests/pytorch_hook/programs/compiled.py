# SPDX-License-Identifier: Apache-2.0
"""Compiles one graph without breaks: of a function that calls the model (`function`, `later`: after the training), or of the
model in place (`in_place`; `layers`: a model without a forward of its own). The last batch is smaller, and needs another
compilation. Prints the number of compiled graphs."""
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

graphs = []


def backend(graph, inputs):
    graphs.append(graph)
    return graph.forward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(5, 4), nn.Tanh())
        self.last = nn.Linear(4, 1)

    def forward(self, x):
        return self.last(self.first(x))


torch.manual_seed(31)
model = Net() if sys.argv[1] != "layers" else nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(x):
    return model(x).pow(2).mean()


compiled = torch.compile(loss_of, backend=backend, fullgraph=True)
if sys.argv[1] == "function":
    loss_of = compiled
elif sys.argv[1] != "later":
    model.compile(backend=backend, fullgraph=True)
for (x,) in DataLoader(TensorDataset(torch.randn(62, 5)), batch_size=4):
    optimizer.zero_grad()
    loss = loss_of(x)
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
    if sys.argv[1] == "later" and len(x) < 4:
        print("compiled", compiled(x).item().hex())
print(len(graphs), "graphs")
