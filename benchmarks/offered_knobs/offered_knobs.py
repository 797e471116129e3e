#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much a search gains if it leaves out the data loader's knobs in a program that hardly waits for data.

    offered_knobs.py [--search-quality build/release/bin/search_quality] [--programs 4] [--seeds 10] [--share 0.01]

Generates simulated programs. A program is a table with the seconds of a step for each combination of knobs. The knobs
are the safe ones that PyTorch's hook would offer on 8 CPUs. A step takes the sum of the parts that the hook reports. At
the current settings, loading data takes the share `--share` of a step. The other parts, and the effect of each knob on
its part, are drawn at random for each program.

The Bayesian searcher searches two tables of each program: one with all knobs, and one without those of the data loader.
Prints the median number of evaluations until the best time so far is within 5 % and within 1 % of the best time with
all knobs. The figures therefore include the speed-up that is lost by leaving knobs out.
"""

import argparse
import csv
import itertools
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

CPUS = 8
LOADER = {
    "num_workers": [0, 1, 2, 4, 8],
    "prefetch_factor": [1, 2, 4, 8],
    "persistent_workers": ["false", "true"],
    "sharing_strategy": ["file_descriptor", "file_system"],
}
OTHERS = {
    "num_threads": [1, 2, 4, 8],
    "channels_last": ["false", "true"],
    "set_to_none": ["false", "true"],
    "optimizer_implementation": ["loop", "foreach", "fused"],
    "omp_wait_policy": ["default", "active", "passive"],
    "malloc": ["default", "keep"],
}
ORDERED = ("num_workers", "prefetch_factor", "num_threads")


class Program:
    """A simulated program: computes the seconds of a step from the values of the knobs. A step takes 1 s if there is
    one thread for each CPU and every other knob has its first value."""

    def __init__(self, number, data_share):
        draw = random.Random(number).uniform
        self.data_s = data_share
        self.optimizer_s = draw(0.03, 0.15)
        self.compute_s = 1.0 - self.data_s - self.optimizer_s
        self.serial = draw(0.05, 0.4)  # share of the computation that threads do not speed up
        self.crowding = draw(0.0, 0.04)  # relative cost of each further thread
        self.layout = draw(0.7, 1.1)  # factor on the computation with channels_last
        self.freed = draw(0.98, 1.0)  # factor on the computation with set_to_none
        self.optimizer = {"loop": 1.0, "foreach": draw(0.5, 1.1), "fused": draw(0.4, 1.0)}
        self.waiting = {"default": 1.0, "active": draw(0.97, 1.03), "passive": draw(0.98, 1.04)}
        self.kept = draw(0.88, 1.0)  # factor on the computation if malloc keeps memory
        self.by_worker_s = 0.2 * self.data_s  # time to pass a batch from a worker to the training process
        self.contention = draw(0.0, 0.01)  # relative cost of each worker to the computation

    def step_s(self, knobs):
        workers = knobs.get("num_workers", 0)
        compute_s = self.compute_s * self._relative_s(knobs["num_threads"]) / self._relative_s(CPUS)
        compute_s *= self.waiting[knobs["omp_wait_policy"]] * (1.0 + self.contention * workers)
        compute_s *= self.layout if knobs["channels_last"] == "true" else 1.0
        compute_s *= self.freed if knobs["set_to_none"] == "true" else 1.0
        compute_s *= self.kept if knobs["malloc"] == "keep" else 1.0
        return compute_s + self.optimizer_s * self.optimizer[knobs["optimizer_implementation"]] + self._data_s(knobs)

    def _relative_s(self, threads):
        return (self.serial + (1.0 - self.serial) / threads) * (1.0 + self.crowding * (threads - 1))

    def _data_s(self, knobs):
        workers = knobs.get("num_workers", 0)
        if workers == 0:
            return self.data_s
        waited_s = self.by_worker_s * (1.0 if knobs["sharing_strategy"] == "file_descriptor" else 1.05)
        waited_s += 0.02 * self.data_s / (workers * knobs["prefetch_factor"])
        return waited_s * (1.0 if knobs["persistent_workers"] == "true" else 1.02)


def write_table(folder, name, program, knobs):
    names = list(knobs)
    rows = []
    for values in itertools.product(*knobs.values()):
        rows.append([*values, "%.9f" % program.step_s(dict(zip(names, values)))])
    with open(folder / (name + ".csv"), "w", newline="") as file:
        csv.writer(file).writerows([[*names, "seconds"], *rows])
    params = [{"name": knob, "kind": "ord" if knob in ORDERED else "cat", "values": [str(value) for value in values]}
              for knob, values in knobs.items()]
    (folder / (name + ".json")).write_text(json.dumps(
        {"name": name, "csv": name + ".csv", "params": params, "objective": "seconds", "direction": "minimize",
         "unit": "s", "others": []}))
    return folder / (name + ".json"), min(float(row[-1]) for row in rows)


def evaluations(searched, limit_s, most):
    """Returns, for each seed, the number of evaluations until a value of at most `limit_s` was found. It is `most` + 1
    if none of the `most` evaluations found such a value."""
    counts = []
    for seed in searched["seeds"]:
        values = [evaluation["values"][0] for evaluation in seed["evaluations"]]
        counts.append(next((i + 1 for i, value in enumerate(values) if value <= limit_s), most + 1))
    return counts


def median_text(counts, most):
    median = statistics.median(counts)
    return "%g" % median if median <= most else "more than %d" % most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search-quality", default="build/release/bin/search_quality")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--share", type=float, default=0.01)
    arguments = parser.parse_args()
    reached = {"all knobs": ([], []), "without the loader's": ([], [])}
    losses = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(arguments.programs):
            program = Program(number, arguments.share)
            everything, best_s = write_table(folder, "all-%d" % number, program, {**LOADER, **OTHERS})
            others, best_of_others_s = write_table(folder, "others-%d" % number, program, OTHERS)
            losses.append(best_of_others_s / best_s - 1.0)
            for table, (near, close) in zip((everything, others), reached.values()):
                out = folder / "out.json"
                subprocess.run([arguments.search_quality, "--table", table, "--searcher", "bayes", "--seeds",
                                str(arguments.seeds), "--trials", str(arguments.trials), "--json", out],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                searched = json.loads(out.read_text())["problems"][0]["searchers"][0]
                near += evaluations(searched, 1.05 * best_s, arguments.trials)
                close += evaluations(searched, 1.01 * best_s, arguments.trials)
    print("data takes %g %% of a step; %d programs, %d seeds each; median evaluations" %
          (100 * arguments.share, arguments.programs, arguments.seeds))
    for what, (near, close) in reached.items():
        print("%-22s within 5 %%: %-14s within 1 %%: %s" %
              (what, median_text(near, arguments.trials), median_text(close, arguments.trials)))
    slower = ", ".join("%.2f" % (100 * loss) for loss in losses)
    print("the best without the loader's knobs is slower by %s %%" % slower)


if __name__ == "__main__":
    main()
