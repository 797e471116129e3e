# SPDX-License-Identifier: Apache-2.0
"""Learns the depth of random expression trees. Each step makes new trees of Python objects."""
import itertools
import random

import torch

random.seed(11)
torch.manual_seed(11)


class Node:
    def __init__(self, symbol, children):
        self.symbol = symbol
        self.children = children
        self.parent = None
        self.notes = {}
        for child in children:
            child.parent = self


def grow(depth):
    if depth == 0 or random.random() < 0.1:
        return Node(random.randrange(10), [])
    return Node(10 + random.randrange(6), [grow(depth - 1), grow(depth - 1)])


def walk(node, level=0):
    node.notes["level"] = level
    yield node
    for child in node.children:
        yield from walk(child, level + 1)


def encode(tree):
    counts = [0.0] * 16
    deepest = 0
    for node in walk(tree):
        counts[node.symbol] += 1.0
        deepest = max(deepest, node.notes["level"])
    return counts, float(deepest)


net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
library = [grow(12) for _ in range(60)]  # examples of earlier runs stay in memory

for iteration in itertools.count(1):
    fresh = [grow(8) for _ in range(12)]
    rows = [encode(tree) for tree in fresh]
    prediction = net(torch.tensor([counts for counts, _ in rows]))
    loss = torch.nn.functional.l1_loss(prediction[:, 0], torch.tensor([deepest for _, deepest in rows]))
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    if iteration % 10 == 0:
        print("iteration %d: loss %.3f" % (iteration, loss.item()), flush=True)
    if iteration == 50000:
        break
