# SPDX-License-Identifier: Apache-2.0
"""An image model whose forward changes the model: counters, hidden state, buffers, a new layer, noise of Python and NumPy.
One of its weights is not contiguous. `view`: the model fails with another memory layout. `outputs`: so does the program's use
of its outputs. `shared`: two weights share their memory. `inference`: evaluates in inference mode."""
import random
import sys

import numpy
import torch
import torch.nn as nn

torch.manual_seed(17)
random.seed(18)
numpy.random.seed(19)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(*[nn.Conv2d(3, 3, 3, padding=1) for _ in range(3)])
        if "shared" in sys.argv:
            self.conv[1].weight = nn.Parameter(self.conv[0].weight.data)
        self.conv[2].weight = nn.Parameter(torch.randn(3, 3, 3, 3).transpose(1, 2))
        self.rnn = nn.GRU(192, 4)
        self.hidden = None
        self.last = None
        self.calls = 0
        self.register_buffer("sum", torch.zeros(1, 3, 8, 8))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        if self.last is None:
            self.last = nn.Linear(4, 3 * 8 * 8)
        self.calls += 1
        self.count = self.count + 1
        self.sum.add_(x.detach().mean(0, keepdim=True))
        x = self.conv(x - self.sum / self.count) * (random.random() + numpy.random.rand())
        x = x.view(-1, 192) if "view" in sys.argv else x.flatten(1)
        x, hidden = self.rnn(x[None], self.hidden)
        self.hidden = hidden.detach()
        return self.conv(self.last(x[0]).reshape(-1, 3, 8, 8))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(5):
    outputs = model(torch.randn(4, 3, 8, 8))
    loss = (outputs.view(-1) if "outputs" in sys.argv else outputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
    if "inference" in sys.argv:
        hidden = model.hidden
        model.eval()
        with torch.inference_mode():
            for _ in range(2):
                model(torch.randn(4, 3, 8, 8))
        model.train()
        model.hidden = hidden
print(model.calls, model.hidden.tolist(), [buffer.sum().item() for buffer in model.buffers()])
if "view" not in sys.argv:
    print(model.conv[2].weight.stride())
