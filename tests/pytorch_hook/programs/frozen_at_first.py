# SPDX-License-Identifier: Apache-2.0
"""Freezes the generator while its discriminator trains, and vice versa, as StyleGAN2 does. `twice`: sometimes makes two
steps."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Linear):
    pass


class Discriminator(nn.Linear):
    pass


torch.manual_seed(34)
loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8, shuffle=True)
generator = Generator(4, 8)
discriminator = Discriminator(8, 1)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4)

for epoch in range(2):
    for index, (real,) in enumerate(loader):
        generator.requires_grad_(False)
        discriminator.requires_grad_(True)
        fake = generator(torch.randn(len(real), 4))
        loss_d = discriminator(fake).mean() - discriminator(real).mean()
        discriminator.zero_grad()
        loss_d.backward()
        optimizer_d.step()
        generator.requires_grad_(True)
        discriminator.requires_grad_(False)
        loss_g = -discriminator(generator(torch.randn(len(real), 4))).mean()
        generator.zero_grad()
        loss_g.backward()
        optimizer_g.step()
        if sys.argv[1:] == ["twice"] and index % 4 in (0, 3):
            generator.zero_grad()
            generator(torch.randn(len(real), 4)).pow(2).mean().backward()
            optimizer_g.step()
        print("loss", loss_d.item().hex(), loss_g.item().hex())
