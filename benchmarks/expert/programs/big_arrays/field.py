# SPDX-License-Identifier: Apache-2.0
"""Fits a coordinate network to a field. All points of a frame are one batch, so activations are large."""
from dataclasses import dataclass

import torch


@dataclass
class Settings:
    points: int = 60_000
    hidden: int = 64
    frames: int = 5000
    lr: float = 1e-3


class Field(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(hidden))
        self.shift = torch.nn.Parameter(torch.randn(hidden))
        self.mix = torch.nn.Parameter(torch.randn(hidden) / hidden)

    def forward(self, t):
        wave = torch.addcmul(self.shift, t, self.scale)
        return (wave.relu() * self.mix).sum(dim=1)


def run(settings: Settings):
    torch.manual_seed(0)
    field = Field(settings.hidden)
    optimizer = torch.optim.Adam(field.parameters(), lr=settings.lr)
    t = torch.linspace(-1, 1, settings.points)[:, None]
    wanted = torch.sin(5 * t[:, 0])
    for frame in range(settings.frames):
        optimizer.zero_grad()
        loss = (field(t) - wanted).square().mean()
        loss.backward()
        optimizer.step()
        if frame % 2 == 0:
            print(f"frame {frame}/{settings.frames} loss={loss.item():.6f}", flush=True)


if __name__ == "__main__":
    run(Settings())
