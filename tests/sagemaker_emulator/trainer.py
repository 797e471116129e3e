# SPDX-License-Identifier: Apache-2.0
"""A training program that trains nothing: steps of a few milliseconds, shorter with more workers. It can also fail or
hang."""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--steps", type=int, default=0, help="0: until it is stopped")
parser.add_argument("--fate", choices=["trains", "fails", "hangs", "is_slow"], default="trains")
arguments = parser.parse_args()
if arguments.fate == "fails":
    raise SystemExit(3)
if arguments.fate == "hangs":
    time.sleep(3600)

step_s = 0.002 * arguments.batch_size / 16 + 0.02 / (1 + arguments.workers)
if arguments.fate == "is_slow":
    step_s *= 5
step, printed_s = 0, 0.0
while arguments.steps == 0 or step < arguments.steps:
    time.sleep(step_s)
    step += 1
    now = time.monotonic()
    if now - printed_s >= 0.05 and os.environ.get("STEPTUNE_TRIAL"):
        printed_s = now
        print("[steptune] " + json.dumps({"v": 1, "step": step, "samples": step * arguments.batch_size,
                                          "clock": now}), flush=True)
