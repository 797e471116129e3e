# SPDX-License-Identifier: Apache-2.0
"""Click prediction: a small table for each of 150 fields, and a shallow network on top."""
import torch
import torch.nn as nn

NUM_FIELDS = 150
VALUES = 40
DIM = 8


class FieldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(VALUES, DIM) for _ in range(NUM_FIELDS)])
        self.gates = nn.ParameterList([nn.Parameter(torch.ones(DIM)) for _ in range(NUM_FIELDS)])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(DIM)) for _ in range(NUM_FIELDS)])
        self.top = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, fields):
        weight = torch.stack([table.weight for table in self.tables])
        weight = weight * torch.stack(list(self.gates))[:, None] + torch.stack(list(self.biases))[:, None]
        picked = weight[torch.arange(NUM_FIELDS)[:, None], fields.T]
        return self.top(picked.mean(dim=0)).squeeze(1)


def train(steps=100000, report=20):
    torch.manual_seed(2)
    model = FieldModel()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    fields = torch.randint(VALUES, (4096, NUM_FIELDS))
    clicked = (fields[:, 0] > 20).float()
    for step in range(steps):
        rows = torch.randint(4096, (64,))
        loss = nn.functional.binary_cross_entropy_with_logits(model(fields[rows]), clicked[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % report == 0:
            print({"step": step + 1, "loss": round(loss.item(), 5)}, flush=True)


train()
