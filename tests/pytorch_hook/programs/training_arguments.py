# SPDX-License-Identifier: Apache-2.0
"""Trains by a fake of transformers' Trainer, whose TrainingArguments have some of the real one's fields, or by one of
Lightning's; by "accelerate" without a trainer, but with a fake of accelerate's state."""
import sys
import types

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

kind = sys.argv[1] if len(sys.argv) > 1 else "transformers"
NAMES = {"lightning": "lightning.pytorch.trainer.trainer", "accelerate": "__main__"}
name = NAMES.get(kind, "transformers.trainer")
module = types.ModuleType(name)
exec(
    """
class TrainingArguments:
    dataloader_num_workers = 0
    dataloader_multiprocessing_context = None
    bf16 = fp16 = False
    torch_compile = False
    optim = "adamw_torch"
    per_device_train_batch_size = 4


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


class AcceleratorState:
    _shared_state = {"distributed_type": "NO"}


torch.manual_seed(41)
loader = DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=4, shuffle=True)
model = nn.Linear(5, 1)
if kind == "accelerate":
    state = sys.modules["accelerate.state"] = types.ModuleType("accelerate.state")
    state.AcceleratorState = AcceleratorState
if kind == "other batches":
    OwnArguments.per_device_train_batch_size = 2
trainer = module.Trainer(model, OwnArguments(), torch.optim.AdamW(model.parameters(), lr=0.01))
trainer.train(loader)
