# Training program of tests/slurm/tune_a_study: larger batches and further nodes are faster, at a known rate. Records
# each start.
import os
import sys
import time

batch, nodes = int(sys.argv[1]), int(sys.argv[2])
rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
assert world == nodes, "a task on each node"
with open("started.txt", "a") as started:
    started.write("%d %d\n" % (batch, nodes))
step_s = 0.01 + 0.0004 * batch + 0.002 * (nodes - 1)
for step in range(1, 100000):
    time.sleep(step_s)
    if rank == 0 and step % 5 == 0:
        print('[steptune] {"v":1,"step":%d,"samples":%d}' % (step, step * batch * nodes), flush=True)
