# SPDX-License-Identifier: Apache-2.0
"""A wide network whose time is in matrix products. Its author has set threads and layouts with care."""
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(768, 768), torch.nn.ReLU(), torch.nn.Linear(768, 768))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=True)
features = torch.randn(1024, 768)
targets = torch.randn(1024, 768)

for step in range(1, 200001):
    rows = slice(256 * (step % 4), 256 * (step % 4) + 256)
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(features[rows]), targets[rows])
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"[{step}] mse {loss.item():.5f}", flush=True)
