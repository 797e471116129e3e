#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tuner beside it does to a program's step times: the same program alone and as trials of a Bayesian study.

    step_times.py --steptune build/release/bin/steptune [--rounds 4] [--trials 12]

Run it on a machine that does nothing else. A step computes on as many threads as there are CPUs (about 20 ms), tells the
tuner each time, and the program itself adds up how long its steps took. A round is half of the runs alone, all trials
of a study, and the other half. Prints the ratio of the mean step times, with the 95 % interval over the rounds.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPORTERS = pathlib.Path(__file__).resolve().parents[2] / "trial_runner" / "reporters"
# Student's t, two-sided 95 %, by degrees of freedom.
T_95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}

PROGRAM = """
import concurrent.futures, hashlib, os, signal, sys, time
import steptune

work, steps, warm_up = int(sys.argv[1]), int(sys.argv[3]), 20
cpus = len(os.sched_getaffinity(0))
compute = lambda _: hashlib.pbkdf2_hmac("sha256", b"step", b"time", work)
# The tuner ends what it has measured.
ended, done = [], 0
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
with concurrent.futures.ThreadPoolExecutor(cpus) as pool:
    for step in range(steps):
        if step == warm_up:
            began = time.perf_counter()
        if ended:
            break
        list(pool.map(compute, range(cpus)))
        steptune.report(samples=1)
        done = step + 1
if done >= 2 * warm_up:
    with open(sys.argv[2], "a") as file:
        print((time.perf_counter() - began) / (done - warm_up), file=file)
"""


def study_of(arguments, folder, times):
    return {
        "name": "steps",
        "command": [sys.executable, str(folder / "program.py"), str(arguments.work), str(times), "1000000", "{x}", "{y}"],
        "env": {"PYTHONPATH": str(REPORTERS)},
        "parameters": {"x": {"type": "float", "low": 0, "high": 1}, "y": {"type": "float", "low": 0, "high": 1}},
        "baseline": {"x": 0.5, "y": 0.5},
        "search": {"searcher": "bayes", "scheduler": "none"},
        "budget": {"trials": arguments.trials},
        # As long as a run alone.
        "measure": {"min_window": "4s", "max_trial": "6s", "confirm_pairs": 0, "sentinels": False},
        "runner": {"type": "local"},
    }


def alone(arguments, folder, runs):
    times = folder / "alone"
    times.unlink(missing_ok=True)
    for _ in range(runs):
        subprocess.run([sys.executable, folder / "program.py", str(arguments.work), times, "220"],
                       env={**os.environ, "PYTHONPATH": str(REPORTERS)}, check=True)
    return [float(line) for line in times.read_text().split()]


def as_trials(arguments, folder):
    times = folder / "trials"
    times.unlink(missing_ok=True)
    (folder / "study.json").write_text(json.dumps(study_of(arguments, folder, times)))
    subprocess.run([arguments.steptune, "run", folder / "study.json", "--new", "--yes", "--quiet"],
                   stdout=subprocess.DEVNULL, env={**os.environ, "STEPTUNE_DB": str(folder / "history.db")})
    found = [float(line) for line in times.read_text().split()]
    if len(found) < arguments.trials / 2:
        sys.exit(f"only {len(found)} of {arguments.trials} trials took 40 steps")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--rounds", type=int, default=4, choices=range(2, 11))
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--work", type=int, default=40000, help="iterations of a hash in a step")
    arguments = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        for _ in range(arguments.rounds):
            before = alone(arguments, folder, arguments.trials // 2)
            tuned = as_trials(arguments, folder)
            after = alone(arguments, folder, arguments.trials - arguments.trials // 2)
            ratios.append(math.log(statistics.mean(tuned) / statistics.mean(before + after)))
            print(f"alone {1000 * statistics.mean(before + after):.2f} ms a step, as trials "
                  f"{1000 * statistics.mean(tuned):.2f} ms", flush=True)
    mean = statistics.mean(ratios)
    half = T_95[len(ratios) - 1] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    shown = [f"{100 * math.expm1(value):+.2f} %" for value in (mean, mean - half, mean + half)]
    print(f"as trials, steps take {shown[0]} longer (95 % interval {shown[1]} to {shown[2]})")


if __name__ == "__main__":
    main()
