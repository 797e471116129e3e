# SPDX-License-Identifier: Apache-2.0
"""Trains by a fake of transformers' Trainer, whose TrainingArguments have some of the real one's fields."""
import sys
import types

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

module = sys.modules["transformers.trainer"] = types.ModuleType("transformers.trainer")
exec(
    """
class TrainingArguments:
    dataloader_num_workers = 0
    dataloader_multiprocessing_context = None
    bf16 = fp16 = False
    torch_compile = False
    optim = "adamw_torch"


class Trainer:
    def __init__(self, model, args, optimizer):
        self.model, self.args, self.optimizer = model, args, optimizer

    def train(self, loader):
        for (x,) in loader:
            loss = self.model(x).pow(2).mean()
            self.model.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("loss", loss.item().hex())
""",
    module.__dict__,
)


class OwnArguments(module.TrainingArguments):
    pass


torch.manual_seed(41)
loader = DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=4, shuffle=True)
model = nn.Linear(5, 1)
trainer = module.Trainer(model, OwnArguments(), torch.optim.AdamW(model.parameters(), lr=0.01))
trainer.train(loader)
