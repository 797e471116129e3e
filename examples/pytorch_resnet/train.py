#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small residual network on pictures of stripes, as many training scripts do.

This file does not use Steptune: the study in the same folder reads the progress lines that the
script prints anyway.
"""
import argparse
import math
import time
import zlib

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    """Pictures of coloured stripes; the class is their direction.

    All pictures are drawn once and kept compressed, like image files. Each access decompresses one
    and takes a random part of it.
    """

    def __init__(self, count, classes, side, crop):
        generator = torch.Generator().manual_seed(1)
        self.side, self.crop = side, crop
        self.labels = [index % classes for index in range(count)]
        self.encoded = [self.draw(label / classes, side, generator) for label in self.labels]

    @staticmethod
    def draw(turn, side, generator):
        random = torch.rand(8, generator=generator)
        angle = math.pi * (turn + 0.04 * float(random[0] - 0.5))
        line = torch.linspace(0, 1, side)
        along = math.cos(angle) * line[None, :] + math.sin(angle) * line[:, None]
        share = torch.sin(2 * math.pi * (6 + 6 * random[1]) * along + 6 * random[2]) > 0
        colour = torch.stack((random[2:5], random[5:8])) * 200
        picture = torch.where(share[None], colour[0, :, None, None], colour[1, :, None, None])
        picture += 16 * torch.rand(3, side, side, generator=generator)
        return zlib.compress(picture.to(torch.uint8).numpy().tobytes(), 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        raw = torch.frombuffer(bytearray(zlib.decompress(self.encoded[index])), dtype=torch.uint8)
        picture = raw.view(3, self.side, self.side)
        size = int(torch.randint(self.side // 2, self.side + 1, ()))
        top, left = torch.randint(0, self.side - size + 1, (2,)).tolist()
        part = picture[:, top : top + size, left : left + size].float() / 127.5 - 1
        picture = F.interpolate(part[None], size=self.crop, mode="bilinear", antialias=True)[0]
        return picture, self.labels[index]


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


def resnet(width, classes):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, classes),
    )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--size", type=int, default=160, help="side of a picture in pixels")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=0, help="data-loader processes")
    parser.add_argument("--prefetch", type=int, default=2, help="batches per worker")
    parser.add_argument("--threads", type=int, default=1, help="threads of one operation")
    parser.add_argument("--amp", action="store_true", help="bfloat16 where that is safe")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--log-every", type=int, default=5, help="steps between progress lines")
    parser.add_argument("--validate", type=int, default=0, help="pictures looked at after each epoch")
    parser.add_argument("--checkpoint", help="file of the weights, written after each epoch")
    return parser.parse_args()


def validation_loss(model, loader, layout, amp):
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=amp):
        losses = [
            F.cross_entropy(model(pictures.to(memory_format=layout)).float(), labels).item()
            for pictures, labels in loader
        ]
    model.train()
    return sum(losses) / len(losses)


def main():
    args = arguments()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    classes = 6
    loader = DataLoader(
        Stripes(args.images, classes, args.size, crop=64),
        batch_size=args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
        **({"prefetch_factor": args.prefetch} if args.workers > 0 else {}),
    )
    validation = DataLoader(Stripes(args.validate, classes, args.size, crop=64), batch_size=args.batch_size)
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    model = resnet(16, classes).to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)

    step, begin = 0, time.monotonic()
    for epoch in range(args.epochs):
        for pictures, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.amp):
                scores = model(pictures.to(memory_format=layout))
                loss = F.cross_entropy(scores.float(), labels)
            loss.backward()
            optimizer.step()
            step += 1
            if step % args.log_every == 0:
                rate = step * args.batch_size / (time.monotonic() - begin)
                print(
                    f"epoch={epoch} step={step} samples={step * args.batch_size} "
                    f"loss={loss.item():.4f} images_per_s={rate:.1f}",
                    flush=True,
                )
        if args.validate:
            loss = validation_loss(model, validation, layout, args.amp)
            print(f"epoch={epoch} val_loss={loss:.4f}", flush=True)
        if args.checkpoint:
            torch.save(model.state_dict(), args.checkpoint)


if __name__ == "__main__":
    main()
