# SPDX-License-Identifier: Apache-2.0
"""An embedding, an encoder and a head without a container, called one after another; batches of 4."""

import torch

torch.manual_seed(1)
embedding = torch.nn.Embedding(50, 16)
encoder = torch.nn.GRU(16, 16, batch_first=True)
head = torch.nn.Linear(16, 2)
parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1)
for step in range(20):
    words = torch.randint(0, 50, (4, 7))
    outputs, _ = encoder(embedding(words))
    loss = torch.nn.functional.cross_entropy(head(outputs[:, -1]), words[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
