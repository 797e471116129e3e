# SPDX-License-Identifier: Apache-2.0
"""A training program that trains nothing: steps of a few milliseconds, fewer with more workers."""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--steps", type=int, default=0, help="0: until it is stopped")
arguments = parser.parse_args()

step_s = 0.002 * arguments.batch_size / 16 + 0.02 / (1 + arguments.workers)
step, told = 0, 0.0
while arguments.steps == 0 or step < arguments.steps:
    time.sleep(step_s)
    step += 1
    now = time.monotonic()
    if now - told >= 0.05 and os.environ.get("STEPTUNE_TRIAL"):
        told = now
        print("[steptune] " + json.dumps({"v": 1, "step": step, "samples": step * arguments.batch_size,
                                          "clock": now}), flush=True)
