#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how a running tuner affects a program's step times.

    step_times.py --steptune build/release/bin/steptune [--blocks 320] [--block-s 0.6] [--threads N]

Run it on a machine that does nothing else. Runs one long trial, which consists of blocks with and without the tuner. A
step computes for about 20 ms on as many threads as there are CPUs, and then reports to the tuner. The program itself
records when each step ended. In blocks without the tuner, the tuner is stopped by SIGSTOP. Blocks come in groups of
four (with, without, without, with), so slow changes of the machine cancel. After a block without the tuner, the tuner
reads the reports of that block, which costs time in the next block. Prints the ratio of the mean step times with and
without the tuner, with a 95 % interval from the groups. Also prints the processor time of the tuner.
"""
import argparse
import bisect
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

REPORTERS = pathlib.Path(__file__).resolve().parents[2] / "trial_runner" / "reporters"

PROGRAM = """
import concurrent.futures, hashlib, signal, sys, time
import steptune

work, threads = int(sys.argv[1]), int(sys.argv[3])
compute = lambda _: hashlib.pbkdf2_hmac("sha256", b"step", b"time", work)
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
times = [time.monotonic()]
with concurrent.futures.ThreadPoolExecutor(threads) as pool:
    while not ended:
        list(pool.map(compute, range(threads)))
        steptune.report(samples=1)
        times.append(time.monotonic())
        if len(times) % 50 == 0:
            with open(sys.argv[2], "a") as file:
                file.writelines(f"{one}\\n" for one in times[-50:])
"""


def study_of(arguments, folder, length_s):
    return {
        "name": "steps",
        "command": [sys.executable, str(folder / "program.py"), str(arguments.work), str(folder / "times"),
                    str(arguments.threads), "{x}"],
        "env": {"PYTHONPATH": str(REPORTERS)},
        "parameters": {"x": {"type": "float", "low": 0, "high": 1}},
        "baseline": {"x": 0.5},
        "search": {"searcher": "bayes", "scheduler": "none"},
        "budget": {"trials": 1},
        "measure": {"min_window": f"{length_s:.0f}s", "max_trial": f"{length_s + 5:.0f}s", "confirm_pairs": 0,
                    "sentinels": False},
        "runner": {"type": "local"},
    }


def times_of(folder):
    file = folder / "times"
    return [float(line) for line in file.read_text().split()] if file.exists() else []


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def mean_step_s(times, begin, end):
    """Returns the mean duration of the steps that lie completely between two times."""
    first, last = bisect.bisect_left(times, begin), bisect.bisect_right(times, end) - 1
    return (times[last] - times[first]) / (last - first)


def blocks_of(tuner, arguments):
    """Returns (with the tuner?, begin, end) of each block, while the trial runs."""
    blocks = []
    for index in range(4 * (arguments.blocks // 4)):
        with_tuner = index % 4 in (0, 3)
        tuner.send_signal(signal.SIGCONT if with_tuner else signal.SIGSTOP)
        begin = time.monotonic()
        time.sleep(arguments.block_s)
        blocks.append((with_tuner, begin, time.monotonic()))
    tuner.send_signal(signal.SIGCONT)
    return blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--blocks", type=int, default=320, help="number of blocks, at least 60")
    parser.add_argument("--block-s", type=float, default=0.6, help="seconds of a block")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads of the program")
    parser.add_argument("--work", type=int, default=40000, help="iterations of a hash in a step")
    arguments = parser.parse_args()
    if arguments.blocks < 60:
        parser.error("--blocks: at least 60")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "study.json").write_text(json.dumps(study_of(arguments, folder, arguments.blocks * arguments.block_s + 20)))
        tuner = subprocess.Popen([arguments.steptune, "run", folder / "study.json", "--new", "--yes", "--quiet"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "STEPTUNE_DB": str(folder / "history.db")})
        try:
            while len(times_of(folder)) < 250:
                if tuner.poll() is not None:
                    sys.exit(f"steptune run ended with exit status {tuner.returncode} before 250 steps")
                time.sleep(0.2)
            taken_s = -processor_s(tuner.pid)
            blocks = blocks_of(tuner, arguments)
            taken_s += processor_s(tuner.pid)
            while times_of(folder)[-1] < blocks[-1][2]:
                time.sleep(0.2)
            times = times_of(folder)
        finally:
            tuner.send_signal(signal.SIGCONT)
            tuner.terminate()
            tuner.wait()
    step_s = [(with_tuner, mean_step_s(times, begin, end)) for with_tuner, begin, end in blocks]
    ratios = [statistics.mean(math.log(value) * (1 if with_tuner else -1) for with_tuner, value in step_s[at:at + 4]) * 2
              for at in range(0, len(step_s), 4)]
    mean = statistics.mean(ratios)
    # Student's t for 15 groups of four. With more groups, the interval is slightly wider than necessary.
    half = 2.145 * statistics.stdev(ratios) / math.sqrt(len(ratios))
    shown = [f"{100 * math.expm1(value):+.2f} %" for value in (mean, mean - half, mean + half)]
    without_ms = 1000 * statistics.mean(value for with_tuner, value in step_s if not with_tuner)
    print(f"{without_ms:.2f} ms a step without the tuner; with it {shown[0]} (95 % interval {shown[1]} to {shown[2]}; "
          f"{len(ratios)} times four blocks of {arguments.block_s:g} s)")
    print(f"the tuner took {100 * taken_s / (arguments.blocks * arguments.block_s / 2):.2f} % of a processor while it was not stopped")


if __name__ == "__main__":
    main()
