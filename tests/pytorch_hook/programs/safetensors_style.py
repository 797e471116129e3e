# SPDX-License-Identifier: Apache-2.0
"""Saves its model by a fake of safetensors. The program imports `save_file` before the hook can wrap it. `save_file` calls
the module's `serialize_file`, which the hook can wrap."""
import os
import sys
import tempfile
import time
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
            # A checkpoint of two files, as Hugging Face's Trainer writes it.
            save_file(model.state_dict(), os.path.join(folder, "model.safetensors"))
            time.sleep(0.1)
            torch.save(optimizer.state_dict(), os.path.join(folder, "optimizer.pt"))
            print(sorted(os.listdir(folder)))
