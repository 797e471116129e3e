# SPDX-License-Identifier: Apache-2.0
"""A variational auto-encoder: noise in the forward, a summed loss, the whole model saved."""
import io

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)


class Images(Dataset):
    def __init__(self, count):
        self.images = torch.rand(count, 36)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], 0


train_loader = DataLoader(Images(96), batch_size=16, shuffle=True)
test_loader = DataLoader(Images(32), batch_size=16, shuffle=False)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(36, 16)
        self.mean = nn.Linear(16, 4)
        self.log_variance = nn.Linear(16, 4)
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 36), nn.Sigmoid())

    def forward(self, x):
        hidden = F.relu(self.encoder(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decoder(z), mean, log_variance


def loss_function(output, x, mean, log_variance):
    reconstruction = F.binary_cross_entropy(output, x, reduction="sum")
    return reconstruction - 0.5 * torch.sum(1 + log_variance - mean**2 - log_variance.exp())


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3)

if __name__ == "__main__":
    for epoch in range(3):
        model.train()
        for data, _ in train_loader:
            optimizer.zero_grad()
            loss = loss_function(model(data)[0], data, *model(data)[1:])
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())
        model.eval()
        with torch.no_grad():
            total = sum(loss_function(*[model(x)[0], x], *model(x)[1:]).item() for x, _ in test_loader)
        print("test", total.hex())
        torch.save(model, io.BytesIO())
