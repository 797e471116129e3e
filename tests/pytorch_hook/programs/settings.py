# SPDX-License-Identifier: Apache-2.0
"""Sets settings of the process itself."""
import torch
import torch.nn as nn

torch.manual_seed(18)
model = nn.Linear(5, 1)
for _ in range(2):
    model(torch.randn(4, 5))
torch.set_num_threads(1)
torch.set_num_interop_threads(1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True)
for _ in range(5):
    loss = model(torch.randn(4, 5)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
