#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training program of known speed. With --a 0 --b 0 a step takes about 60 ms; with --a 3 --b 2 the program is 1.67
times as fast. Steps have 12 % noise, and neighbouring steps have a correlation of 0.6."""
import argparse
import math
import random
import time

BATCH, STEP_S, NOISE, CORRELATION = 8, 0.060, 0.12, 0.6

parser = argparse.ArgumentParser()
parser.add_argument("--a", type=int, default=0)
parser.add_argument("--b", type=int, default=0)
arguments = parser.parse_args()
speed = 1 + 0.67 * (0.6 * arguments.a / 3 + 0.4 * arguments.b / 2)
noise = 0.0
step = 0
while True:
    noise = CORRELATION * noise + math.sqrt(1 - CORRELATION**2) * random.gauss(0, NOISE)
    time.sleep(max(0.001, STEP_S / speed * (1 + noise)))
    step += 1
    print(f"step={step} samples={step * BATCH}", flush=True)
