#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a model that needs most of the machine's memory: two instances do not fit. A lock stands for the memory.

    large_model.py STEP_S ALLOCATION error|137

Needs the memory from the step ALLOCATION on. If another instance in the same folder has it, the program adds a line to
the file `failures` and fails. It ends with a MemoryError, or as a shell does whose child the kernel has killed.
"""
import fcntl
import sys
import time

STEPS = 2000

step_s, allocation, end = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
memory = open("memory", "a")
for step in range(1, STEPS + 1):
    if step == allocation:
        try:
            fcntl.flock(memory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with open("failures", "a") as failures:
                print(step, file=failures)
            if end == "137":
                sys.exit(137)
            raise MemoryError("the model does not fit")
    time.sleep(step_s)
    print('[steptune] {"v":1,"step":%d,"samples":%d}' % (step, 10 * step), flush=True)
