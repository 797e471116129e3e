# SPDX-License-Identifier: Apache-2.0
"""Its batches are tuples of one tensor, whose first dimension is time."""
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(43)
data = [torch.randn(7 + i % 3, 5) for i in range(24)]
loader = DataLoader(data, batch_size=4, shuffle=True, collate_fn=lambda items: (pad_sequence(items),))
model = torch.nn.LSTM(5, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x)[0].pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item().hex())
