# SPDX-License-Identifier: Apache-2.0
"""A step for each batch, in the ways that programs write it. `by_hand N`: the same with N batches for a step."""

import sys
import warnings

import torch
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset

WAYS = set(sys.argv[1:])
BATCHES = next((int(word) for word in WAYS if word.isdigit()), 1)

warnings.simplefilter("ignore")  # schedules count batches here, and PyTorch expects steps
torch.manual_seed(1)
data = TensorDataset(torch.randn(96, 12), torch.randn(96, 1))
model = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 6, 0.5)
loader = DataLoader(data, batch_size=8, shuffle=True)
count = 0
for epoch in range(2):
    for inputs, targets in loader:
        count += 1
        is_last = count % BATCHES == 0
        if "before" in WAYS and (count - 1) % BATCHES == 0:
            optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        (loss / BATCHES).backward()
        if "clipped" in WAYS and is_last:
            clip_grad_norm_(model.parameters(), max_norm=0.05)
        if is_last:
            optimizer.step()
        if "scheduled" in WAYS:
            scheduler.step()
        if "before" not in WAYS and is_last:
            if "by_model" in WAYS:
                model.zero_grad()
            elif "by_itself" in WAYS:
                for parameter in model.parameters():
                    parameter.grad = None
            else:
                optimizer.zero_grad()
        print("loss", loss.item())
print("weights", [round(p.double().sum().item(), 6) for p in model.parameters()])
