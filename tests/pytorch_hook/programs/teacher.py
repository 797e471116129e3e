# SPDX-License-Identifier: Apache-2.0
"""A teacher whose forward, without gradients, is part of each step."""
import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
loader = DataLoader(TensorDataset(torch.randn(80, 5)), batch_size=4, shuffle=True)
student = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
teacher = copy.deepcopy(student)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for (x,) in loader:
    with torch.no_grad():
        target = teacher(x)
    loss = (student(x + 0.1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.lerp_(fast, 0.01)
    print("loss", loss.item().hex())
