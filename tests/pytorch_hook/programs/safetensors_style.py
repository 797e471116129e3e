# SPDX-License-Identifier: Apache-2.0
"""Keeps its model as safetensors does, by a stub of it: `save_file` is taken from the module early, and writes by what
the module has when it is called."""
import os
import sys
import tempfile
import types

import torch
import torch.nn as nn

module = sys.modules["safetensors.torch"] = types.ModuleType("safetensors.torch")
exec(
    """
import time

def serialize_file(tensors, filename, metadata=None):
    time.sleep(0.02)
    with open(filename, "wb") as file:
        file.write(b"".join(tensor.numpy().tobytes() for tensor in tensors.values()))

def save_file(tensors, filename, metadata=None):
    serialize_file(tensors, filename, metadata=metadata)
""",
    module.__dict__,
)
save_file = module.save_file
torch.manual_seed(35)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with tempfile.TemporaryDirectory() as folder:
    for step in range(12):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 5)).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
        if step % 5 == 4:
            save_file(model.state_dict(), os.path.join(folder, "model.safetensors"))
            print(os.listdir(folder))
