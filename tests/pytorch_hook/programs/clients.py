# SPDX-License-Identifier: Apache-2.0
"""Federated averaging. The clients train one after the other, each for one epoch with its own model and optimizer."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(35)
net = nn.Linear(5, 1)


class Client:
    def __init__(self):
        self.model = copy.deepcopy(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.data = TensorDataset(torch.randn(12, 5))

    def train(self, weights):
        self.model.load_state_dict(weights)
        for (x,) in DataLoader(self.data, batch_size=4, shuffle=True):
            loss = self.model(x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("loss", loss.item().hex())
        return self.model.state_dict()


clients = [Client() for _ in range(4)]
for _ in range(5):
    trained = [client.train(net.state_dict()) for client in clients]
    net.load_state_dict({name: sum(state[name] for state in trained) / 4 for name in trained[0]})
