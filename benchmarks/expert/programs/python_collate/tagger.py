# SPDX-License-Identifier: Apache-2.0
"""Part-of-speech tagger. Sentences become character n-grams in plain Python, batch by batch."""
import argparse
import random

import torch


def ngrams(word):
    padded = f"<{word}>"
    return [hash_of(padded[i:i + n]) for n in (2, 3, 4, 5) for i in range(len(padded) - n + 1)]


def hash_of(text):
    value = 2166136261
    for character in text:
        value = (value ^ ord(character)) * 16777619 & 0xFFFFFFFF
    return value % 2000


def collate(sentences):
    indices, offsets, tags = [], [], []
    for words in sentences:
        for word in words:
            offsets.append(len(indices))
            indices.extend(ngrams(word))
            tags.append(len(word) % 8)
    return torch.tensor(indices), torch.tensor(offsets), torch.tensor(tags)


def corpus(count, seed):
    rng = random.Random(seed)
    letters = "etaoinshrdlu"
    return [["".join(rng.choices(letters, k=rng.randint(3, 12))) for _ in range(16)] for _ in range(count)]


class Tagger(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(2000, size)
        self.out = torch.nn.Sequential(torch.nn.Linear(size, size), torch.nn.ReLU(), torch.nn.Linear(size, 8))

    def forward(self, indices, offsets):
        return self.out(self.bag(indices, offsets))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--embedding", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    loader = torch.utils.data.DataLoader(corpus(20000, args.seed), batch_size=32, shuffle=True, collate_fn=collate)
    model = Tagger(args.embedding)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for epoch in range(args.epochs):
        running = 0.0
        for done, (indices, offsets, tags) in enumerate(loader, 1):
            loss = torch.nn.functional.cross_entropy(model(indices, offsets), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
            if done % 5 == 0:
                print(f"epoch {epoch} batch {done} loss {running / done:.4f}", flush=True)


main()
