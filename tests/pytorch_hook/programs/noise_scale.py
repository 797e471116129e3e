# SPDX-License-Identifier: Apache-2.0
"""Learns the mean of normal samples, so the gradient noise scale is known. The first argument names an operation on the
gradients."""
import sys

import torch
import torch.nn as nn

WIDTH, BATCH, MICRO_BATCHES, DISTANCE = 50, 4, 8, 1.0
# Operations that the hook cannot follow: it must report no noise scale.
UNKNOWN = ("never zeroed", "two losses", "sizes", "clipped one by one", "zeroed one by one")
# A sample's gradient is mean - x. The trace of its covariance is WIDTH, and the squared length of its mean is
# WIDTH * DISTANCE^2. The noise scale is their ratio: 1 / DISTANCE^2 = 1 sample.


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.full((WIDTH - 1,), DISTANCE))
        self.last = nn.Parameter(torch.full((1,), DISTANCE))

    def forward(self, x):
        return (0.5 * (torch.cat([self.mean, self.last]) - x) ** 2).sum(dim=1).mean()


class ComplexMean(nn.Module):
    """The same mean as WIDTH / 2 complex numbers."""

    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.full((WIDTH // 2,), complex(DISTANCE, DISTANCE)))

    def forward(self, x):
        return (0.5 * (self.mean - torch.view_as_complex(x.view(len(x), -1, 2))).abs() ** 2).sum(dim=1).mean()


how = sys.argv[1] if len(sys.argv) > 1 else "plain"
torch.manual_seed(22)
model = ComplexMean() if how == "complex" else Mean()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for _ in range(100 if how in UNKNOWN else 300):
    if how != "never zeroed":
        optimizer.zero_grad(set_to_none=how != "set to zero")
    total = 0.0
    size = BATCH
    for micro_batch in range(MICRO_BATCHES):
        if how == "sizes" and micro_batch == 1:
            size = BATCH + 1
        loss = model(torch.randn(size, WIDTH))
        if how == "two losses":
            loss.backward(retain_graph=True)
        (loss / (1 if how == "sum" else MICRO_BATCHES)).backward()
        total += loss.item()
        if how == "clipped one by one":
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        if how == "zeroed one by one":
            optimizer.zero_grad(set_to_none=False)
    nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    optimizer.step()
    print("loss", total.hex())
