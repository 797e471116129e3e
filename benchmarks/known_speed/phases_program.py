#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training program of known speed. A step takes 20 ms (10 ms with --fast 1). Every 200 steps an evaluation takes 2 s,
and every 100 steps a checkpoint takes 1 s. The program does not report these phases."""
import argparse
import time

BATCH = 8

parser = argparse.ArgumentParser()
parser.add_argument("--fast", type=int, default=0)
step_s = 0.010 if parser.parse_args().fast else 0.020
step = 0
while True:
    time.sleep(step_s)
    step += 1
    print(f"step={step} samples={step * BATCH}", flush=True)
    if step % 200 == 0:
        time.sleep(2.0)
    if step % 100 == 0:
        time.sleep(1.0)
