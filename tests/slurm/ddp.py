# Training program of tests/slurm/launch_over_nodes: the last rank gets its data 40 ms late.
import sys
import time

import steptune
import torch
import torch.distributed as dist

assert sys.argv[2] == "it's $HOME"
dist.init_process_group("gloo")
rank, world, batch = dist.get_rank(), dist.get_world_size(), int(sys.argv[1])
network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
while True:
    with steptune.timed("data"):
        x = torch.randn(batch, 8)
        time.sleep(0.05 if rank == world - 1 else 0.01)
    optimizer.zero_grad()
    network(x).pow(2).mean().backward()
    optimizer.step()
    steptune.report(samples=batch * world)
