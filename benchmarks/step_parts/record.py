#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the parts of a real program's steps over every combination of its settings, as a tuning table.

    record.py --steptune build/release/bin/steptune --program examples/mnist/main.py --out FOLDER [--trials 10]

PROGRAM is main.py of https://github.com/pytorch/examples/tree/main/mnist, unmodified; `import torchvision` must work in
/usr/bin/python3 (Debian: python3-torchvision). Where the data set is not beside it (../data), random images of the same
number and size are written there: what they show changes no time.

Runs mnist.study.json on it in FOLDER, which another call of the same command goes on with, and writes mnist_step_parts.csv and
.json there, a table as `search_quality --table` reads it: seconds per sample, and of these the seconds of each part. Where a
parameter has no effect (prefetch without workers), the one measurement stands for each of its values. Run it on a machine that
does nothing else: 320 configurations of at most 7 s each, so 40 minutes at most.
"""
import argparse
import csv
import itertools
import json
import os
import random
import statistics
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "mnist_step_parts"
PARTS = ("data", "prepare", "forward", "backward", "optimizer", "other")
KINDS = {"categorical": "cat", "bool": "cat", "ordinal": "ord", "int": "ord"}


def read_study():
    with open(os.path.join(HERE, "mnist.study.json"), encoding="utf-8") as file:
        return json.loads("".join(line for line in file if not line.lstrip().startswith("//")))


def write_random_images(folder):
    """The data set's files, with the numbers of images that it has."""
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(0)
    for name, count in (("train", 60000), ("t10k", 10000)):
        with open(os.path.join(folder, name + "-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + draw.randbytes(count * 28 * 28))
        with open(os.path.join(folder, name + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + bytes(draw.choices(range(10), k=count)))


def values_of(parameter):
    """In order, as the configuration has them."""
    if parameter["type"] == "bool":
        return [False, True]
    if "choices" in parameter:
        return parameter["choices"]
    low, high = parameter["low"], parameter["high"]
    if parameter.get("scale") == "log2":
        return [1 << power for power in range(high.bit_length()) if low <= 1 << power <= high]
    return list(range(low, high + 1))


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def rows_of(trials, parameters):
    """One for each combination: of a configuration that was measured several times the last measurement."""
    rows = {}
    for trial in trials:
        measured = trial["measurement"]
        if not trial["objectives"] or not measured or measured["seconds_per_sample"] is None:
            continue
        known = trial["configuration"]
        choices = [[known[name]] if name in known else values_of(parameter) for name, parameter in parameters.items()]
        half_width = measured["half_width_95_s"]
        figures = [measured["seconds_per_sample"], "" if half_width is None else half_width]
        figures += [measured["parts_s_per_sample"].get(part, "") for part in PARTS]
        figures += ["" if trial["peak_memory_bytes"] is None else trial["peak_memory_bytes"], trial["spent_s"], trial["status"]]
        for combination in itertools.product(*choices):
            rows[tuple(text(value) for value in combination)] = figures
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--program", required=True, help="main.py of PyTorch's MNIST example")
    parser.add_argument("--out", required=True, help="folder of the history and of the table")
    parser.add_argument("--trials", type=int, help="fewer than all configurations, for a try")
    parser.add_argument("--commit", default="", help="of the examples, for the table's provenance")
    arguments = parser.parse_args()

    folder = os.path.dirname(os.path.abspath(arguments.program))
    data = os.path.join(folder, "..", "data", "MNIST", "raw")
    if not os.path.exists(os.path.join(data, "train-images-idx3-ubyte")):
        write_random_images(data)

    study = read_study()
    study["working_directory"] = folder
    if arguments.trials is not None:
        study["budget"]["trials"] = arguments.trials
    os.makedirs(arguments.out, exist_ok=True)
    file = os.path.join(arguments.out, "study.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(study, out, indent=1)
    steptune = [arguments.steptune]
    database = ["--db", os.path.join(arguments.out, "history.db")]
    # One thread where the program says nothing of it, as Debian's PyTorch takes all.
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    ran = subprocess.run(steptune + ["run", file, "--yes", *database], env=environment, check=False)
    if ran.returncode != 0:
        sys.exit(f"steptune run: exit status {ran.returncode}")
    exported = subprocess.run(steptune + ["export", study["name"], "-", "--format", "json", *database],
                              stdout=subprocess.PIPE, check=True)
    trials = json.loads(exported.stdout)["trials"]
    write_table(arguments, study, rows_of(trials, study["parameters"]))


def write_table(arguments, study, rows):
    parameters = study["parameters"]
    params = [{"name": name, "kind": KINDS[parameter["type"]], "values": [text(value) for value in values_of(parameter)]}
              for name, parameter in parameters.items()]
    others = ["half_width_95_s", *(part + "_s" for part in PARTS), "peak_memory_bytes", "trial_s", "status"]
    ordered = sorted(rows, key=lambda row: [param["values"].index(value) for param, value in zip(params, row)])
    with open(os.path.join(arguments.out, NAME + ".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*parameters, "seconds_per_sample", *others])
        writer.writerows([*row, *rows[row]] for row in ordered)

    times = [rows[row][0] for row in ordered]
    best = min(times)
    combinations = 1
    for param in params:
        combinations *= len(param["values"])
    table = {
        "name": NAME, "csv": NAME + ".csv", "rows": len(rows), "measured": len(rows), "product_space": combinations,
        "density": len(rows) / combinations, "params": params,
        "objective": "seconds_per_sample", "direction": "minimize", "unit": "s", "others": others,
        "parts": [part + "_s" for part in PARTS],
        "optimum": best, "median": statistics.median(times), "worst": max(times),
        "share_within": {str(share): sum(time <= best * (1 + share) for time in times) / len(times)
                         for share in (0.01, 0.05, 0.1)},
        "what": "Seconds per sample, and in each part of a step, of PyTorch's MNIST example on a CPU",
        "provenance": {"repo": "https://github.com/pytorch/examples", "path": "mnist/main.py", "commit": arguments.commit,
                       "licence": "BSD-3-Clause (the program); the figures were measured with benchmarks/step_parts/record.py"},
        "notes": "Without workers prefetch has no effect: these rows are one measurement each. Noise of single runs is in the values.",
    }
    with open(os.path.join(arguments.out, NAME + ".json"), "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")
    print(f"{len(rows)} rows of {combinations}: {os.path.join(arguments.out, NAME)}.csv, .json")


if __name__ == "__main__":
    main()
