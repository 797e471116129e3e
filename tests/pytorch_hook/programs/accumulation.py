# SPDX-License-Identifier: Apache-2.0
"""A language model in the style of nanoGPT: no loader, accumulated gradients, evaluation by steps."""
import io

import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1337)
VOCABULARY, BLOCK, BATCH, MICRO_STEPS = 17, 12, 4, 4
text = torch.randint(0, VOCABULARY, (2000,))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.mix(self.norm(x)))


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(3)])
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens, targets=None):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


def get_batch():
    starts = torch.randint(len(text) - BLOCK - 1, (BATCH,))
    x = torch.stack([text[i : i + BLOCK] for i in starts])
    return x, torch.stack([text[i + 1 : i + 1 + BLOCK] for i in starts])


@torch.no_grad()
def estimate_loss(model):
    model.eval()
    losses = [model(*get_batch())[1].item() for _ in range(4)]
    model.train()
    return sum(losses) / len(losses)


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = get_batch()
for iteration in range(12):
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 / (1 + iteration)
    if iteration % 4 == 0:
        print("evaluation", estimate_loss(model).hex())
        if iteration > 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, io.BytesIO())
    total = 0.0
    for micro_step in range(MICRO_STEPS):
        _, loss = model(x, y)
        loss = loss / MICRO_STEPS
        total += loss.item()
        x, y = get_batch()
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print("loss", total.hex())
