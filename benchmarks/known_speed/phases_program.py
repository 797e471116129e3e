#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of 20 ms (10 with --fast 1), an evaluation of 2 s every 200 steps, a checkpoint of 1 s every 100. Reports
neither phase."""
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
