# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program that knows nothing of Steptune: 60 s of small steps."""
import time

import torch

data = torch.utils.data.TensorDataset(torch.randn(4096, 16), torch.randn(4096, 1))
loader = torch.utils.data.DataLoader(data, batch_size=32)
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
end = time.time() + 60
while time.time() < end:
    for features, target in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(features), target).backward()
        optimizer.step()
