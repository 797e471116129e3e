# SPDX-License-Identifier: Apache-2.0
"""A model that fails with another memory layout: `view` after a convolution, with noise and statistics before it. `fails`:
it fails with its own, too. `autocast`: the program uses it. `later`: fails from its third forward on; no noise. `replaced`:
before that forward the program inserts other layers; without `later` they accept the layout, unless they have a
`volume`."""
import sys

import torch
import torch.nn as nn

torch.manual_seed(17)


def layers():
    noise = nn.Dropout(0.0 if "later" in sys.argv or "replaced" in sys.argv else 0.3)
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), noise)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = layers()
        self.forwards = 0
        self.fc = nn.Linear(3 * 6 * 6, 1)

    def forward(self, x):
        if "fails" in sys.argv:
            x.transpose(1, 3).view(-1)
        self.forwards += 1
        convolved = self.conv(x)
        if self.forwards < 3 and "later" in sys.argv or "replaced" in sys.argv and "later" not in sys.argv:
            return self.fc(convolved.reshape(-1, 3 * 6 * 6))
        return self.fc(convolved.view(-1, 3 * 6 * 6))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    if step == 2 and "replaced" in sys.argv:
        model.conv = layers()
        if "volume" in sys.argv:
            model.conv.register_buffer("volume", torch.zeros(1, 1, 1, 1, 1))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled="autocast" in sys.argv):
        loss = model(torch.randn(4, 2, 8, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
if "replaced" in sys.argv:
    print(model.conv[0].weight.is_contiguous(memory_format=torch.channels_last))
print([buffer.tolist() for buffer in model.buffers()])
