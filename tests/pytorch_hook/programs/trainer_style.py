# SPDX-License-Identifier: Apache-2.0
"""A loop in the style of Hugging Face's Trainer with accelerate: keywords only, outputs as a
mapping, a loader that runs one batch ahead, a wrapper around the optimizer, accumulation."""
import argparse
from collections import OrderedDict

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ModelOutput(OrderedDict):
    def __getattr__(self, name):
        return self[name]


class Texts(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(0, 11, (count, 7))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": int(self.tokens[index].sum() % 2)}


def collate(items):
    return {
        "labels": torch.tensor([item["labels"] for item in items]),
        "input_ids": torch.stack([item["input_ids"] for item in items]),
    }


class DataLoaderShard(DataLoader):
    def __iter__(self):
        iterator = super().__iter__()
        current = next(iterator)
        while True:
            try:
                following = next(iterator)
            except StopIteration:
                yield current
                return
            yield current
            current = following


class AcceleratedOptimizer(torch.optim.Optimizer):
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self, closure=None):
        self.optimizer.step(closure)

    def zero_grad(self, set_to_none=None):
        self.optimizer.zero_grad(set_to_none=True)


class ForClassification(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(11, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, 2)

    def forward(self, input_ids=None, labels=None):
        logits = self.head(self.dropout(self.embedding(input_ids).mean(dim=1)))
        return ModelOutput(loss=nn.functional.cross_entropy(logits, labels), logits=logits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--items", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--width", type=int, default=6)
    arguments = parser.parse_args()
    torch.manual_seed(4)
    size = arguments.batch_size
    train = DataLoaderShard(Texts(arguments.items), batch_size=size, shuffle=True, collate_fn=collate)
    evaluation = DataLoaderShard(Texts(arguments.items // 4), batch_size=size, collate_fn=collate)
    model = ForClassification(arguments.width)
    optimizer = AcceleratedOptimizer(torch.optim.AdamW(model.parameters(), lr=0.01))
    for _ in range(arguments.epochs):
        for index, inputs in enumerate(train):
            model.train()
            outputs = model(**inputs)
            (outputs.loss / 2).backward()
            print("loss", outputs.loss.item().hex())
            if index % 2 == 1:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            print("eval", sum(model(**inputs)["loss"].item() for inputs in evaluation).hex())


if __name__ == "__main__":
    main()
