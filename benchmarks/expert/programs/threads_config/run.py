# SPDX-License-Identifier: Apache-2.0
"""Usage: run.py CONFIG.ini"""
import configparser
import os
import sys

config = configparser.ConfigParser()
config.read(sys.argv[1])
os.environ["OMP_NUM_THREADS"] = config["runtime"]["threads"]  # before anything loads OpenMP

import torch  # noqa: E402


def make_model(section):
    width, depth = section.getint("width"), section.getint("depth")
    layers = []
    for i in range(depth):
        layers += [torch.nn.Linear(32 if i == 0 else width, width), torch.nn.LayerNorm(width), torch.nn.GELU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))


def main():
    train = config["train"]
    torch.manual_seed(train.getint("seed"))
    model = make_model(config["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=train.getfloat("lr"))
    x = torch.randn(20000, 32)
    y = (x[:, :8].sum(dim=1, keepdim=True)).tanh()
    size = train.getint("batch_size")
    for step in range(1, train.getint("steps") + 1):
        rows = torch.randint(0, len(x), (size,))
        optimizer.zero_grad()
        loss = ((model(x[rows]) - y[rows]) ** 2).mean()
        loss.backward()
        optimizer.step()
        if step % train.getint("log_every") == 0:
            print(f"step={step} loss={loss.item():.5f}", flush=True)


main()
