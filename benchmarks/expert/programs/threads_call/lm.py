# SPDX-License-Identifier: Apache-2.0
# A small causal transformer over random tokens.
import torch
import torch.nn as nn

torch.set_num_threads(8)  # the workstation has eight cores
torch.manual_seed(1337)

batch_size = 8
block_size = 64
max_iters = 20000
log_every = 10
learning_rate = 1e-3
n_embd = 128
n_head = 4
n_layer = 2
vocab_size = 96

data = torch.randint(vocab_size, (100_000,))


def get_batch():
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    return x, y


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, n_embd)
        self.pos = nn.Embedding(block_size, n_embd)
        layer = nn.TransformerEncoderLayer(n_embd, n_head, 4 * n_embd, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, n_layer)
        self.lm_head = nn.Linear(n_embd, vocab_size)
        self.register_buffer("mask", torch.triu(torch.full((block_size, block_size), float("-inf")), 1))

    def forward(self, idx, targets):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        logits = self.lm_head(self.blocks(x, self.mask))
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


model = LM()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
for it in range(max_iters):
    xb, yb = get_batch()
    loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % log_every == 0:
        print(f"iter {it}: train loss {loss.item():.4f}")
