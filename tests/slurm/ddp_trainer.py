# Training program with torch.distributed for tests/slurm/tune_ddp: gloo over the tasks of a step, ranks from the
# environment. Counts samples over all ranks. Each rank ends by itself, together with the others.
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

batch, nodes = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(1)
model = torch.nn.Linear(64, 8)
rank, world = 0, 1
if nodes > 1:
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(model)
assert world == nodes, "a rank on each node"
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
samples = torch.zeros(1)
for step in range(1, 601):
    loss = model(torch.randn(batch, 64)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        seen = torch.tensor([5.0 * batch])
        if nodes > 1:
            dist.all_reduce(seen)
        samples += seen
        if rank == 0:
            print('[steptune] {"v":1,"step":%d,"samples":%d}' % (step, samples.item()), flush=True)
if nodes > 1:
    dist.barrier()
    dist.destroy_process_group()
