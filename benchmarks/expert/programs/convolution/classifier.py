# SPDX-License-Identifier: Apache-2.0
from argparse import ArgumentParser

import torch
from torch import nn


def block(channels_in, channels_out, stride):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_in, 3, stride, 1, groups=channels_in, bias=False),
        nn.BatchNorm2d(channels_in),
        nn.ReLU(inplace=True),
        nn.Conv2d(channels_in, channels_out, 1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    )


def build(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
        block(width, 2 * width, 1), block(2 * width, 2 * width, 2), block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 20))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image_size", type=int, default=96)
    parser.add_argument("--iters", type=int, default=10000)
    opts = parser.parse_args()
    torch.manual_seed(4)
    images = torch.randn(256, 3, opts.image_size, opts.image_size)
    labels = torch.randint(20, (256,))
    net = build(opts.width)
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for it in range(opts.iters):
        pick = torch.randint(256, (opts.batch,))
        loss = nn.functional.cross_entropy(net(images[pick]), labels[pick])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        if it % 5 == 4:
            print(f"Iter [{it + 1}/{opts.iters}] Loss: {loss.item():.4f}", flush=True)
