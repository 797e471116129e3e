# SPDX-License-Identifier: Apache-2.0
"""Trains a small network by data parallelism. Start it with torchrun, or another launcher that sets RANK and the like.
The data is random. The computation of gradients and their exchange are real."""

import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../trial_runner/reporters"))
import steptune  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64, help="samples in a step, of all processes together")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--bucket-mb", type=float, default=25.0)
    parser.add_argument("--static-graph", action="store_true")
    parser.add_argument("--zero", action="store_true", help="shard the optimizer's state")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--slow-rank", type=int, default=-1, help="rank whose data comes late, so that Steptune names it")
    return parser.parse_args()


def main():
    options = arguments()
    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    torch.manual_seed(1)
    layers = [nn.Linear(options.width, options.width), nn.ReLU()] * 4
    network = nn.Sequential(*layers, nn.Linear(options.width, 10)).to(device)
    network = DistributedDataParallel(
        network, bucket_cap_mb=options.bucket_mb, static_graph=options.static_graph,
        gradient_as_bucket_view=True)
    if options.zero:
        optimizer = ZeroRedundancyOptimizer(network.parameters(), torch.optim.Adam, lr=1e-3)
    else:
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    share = max(1, options.batch // processes)
    generator = torch.Generator().manual_seed(rank)
    if rank == 0:
        print(f"{processes} processes on {device.type}, {share} samples each", flush=True)
    for _ in range(options.steps):
        with steptune.timed("data"):
            samples = torch.randn(share, options.width, generator=generator)
            if rank == options.slow_rank:
                time.sleep(0.005)
        labels = (samples.sum(1) > 0).long()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(samples.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        # Each rank reports the samples of all ranks together.
        steptune.report(samples=share * processes, loss=loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
