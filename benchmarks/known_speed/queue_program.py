#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training program of known speed. Loading a batch takes twice as long as computing it. The queue of batches fills
while the first step compiles. When the queue is empty again, the speed depends only on loading, not on the queue's
length."""
import argparse
import queue
import threading
import time

LOAD_S, COMPUTE_S, COMPILE_S, BATCH = 0.020, 0.010, 3.0, 8

parser = argparse.ArgumentParser()
parser.add_argument("--prefetch", type=int, default=32)
batches = queue.Queue(maxsize=parser.parse_args().prefetch)


def load():
    while True:
        time.sleep(LOAD_S)
        batches.put(None)


threading.Thread(target=load, daemon=True).start()
step = 0
while True:
    batches.get()
    time.sleep(COMPILE_S if step == 0 else COMPUTE_S)
    step += 1
    print(f"step={step} samples={step * BATCH}", flush=True)
