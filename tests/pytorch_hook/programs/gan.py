# SPDX-License-Identifier: Apache-2.0
"""Two optimizers that take turns."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8, shuffle=True)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))

for epoch in range(2):
    for (real,) in loader:
        discriminator.zero_grad()
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        error_real = criterion(discriminator(real), ones)
        error_real.backward()
        fake = generator(torch.randn(len(real), 4))
        error_fake = criterion(discriminator(fake.detach()), zeros)
        error_fake.backward()
        optimizer_d.step()
        generator.zero_grad()
        error_g = criterion(discriminator(fake), ones)
        error_g.backward()
        optimizer_g.step()
        print("loss", (error_real + error_fake).item().hex(), error_g.item().hex())
    with torch.no_grad():
        generator(torch.randn(16, 4))
