#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imitates launchers of distributed programs: starts two ranks, which meet in each step.

    launcher.py mpirun|torchrun|joining PORT STEP_S STEPS

As with Open MPI, each rank of `mpirun` has its own process group. As with PyTorch, each rank of `torchrun` has its own
session, and a second launcher at the same port fails. A second `joining` launcher instead waits for the first one to
admit it, as if both belonged to one rendezvous. PORT 0: a free port. A rank or launcher that waits for the others for
longer than 5 s fails.
"""
import os
import socket
import sys
import time

LONGEST_WAIT_S = 5.0


def train(rank, port, step_s, steps):
    print("pid %d" % os.getpid(), flush=True)
    with socket.create_connection(("127.0.0.1", port), LONGEST_WAIT_S) as others:
        for step in range(1, steps + 1):
            time.sleep(step_s)
            others.sendall(b"+")
            if not others.recv(1):
                raise ConnectionError("the launcher is gone")
            if rank == 0:
                print('[steptune] {"v":1,"step":%d,"samples":%d}' % (step, 10 * step), flush=True)


def start_rank(launcher, rank, *arguments):
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0) if launcher == "mpirun" else os.setsid()
        train(rank, *arguments)
        os._exit(0)
    return pid


def main(launcher, port, step_s, steps):
    print("pid %d" % os.getpid(), flush=True)
    try:
        rendezvous = socket.create_server(("127.0.0.1", port))
    except OSError:
        if launcher != "joining":
            raise
        socket.create_connection(("127.0.0.1", port)).recv(1)
        raise
    with rendezvous, socket.create_server(("127.0.0.1", 0)) as meeting:
        meeting.settimeout(LONGEST_WAIT_S)
        own_port = meeting.getsockname()[1]
        pids = [start_rank(launcher, rank, own_port, step_s, steps) for rank in range(2)]
        lead([meeting.accept()[0] for _ in pids], steps)
        return max(os.WEXITSTATUS(os.waitpid(pid, 0)[1]) for pid in pids)


def lead(ranks, steps):
    for rank in ranks:
        rank.settimeout(LONGEST_WAIT_S)
    for _ in range(steps):
        if not all([rank.recv(1) for rank in ranks]):
            raise ConnectionError("a rank is gone")
        for rank in ranks:
            rank.sendall(b"+")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])))
