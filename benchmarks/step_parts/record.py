#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the parts of a real program's steps over every combination of its settings, as a tuning table.

    record.py --steptune build/release/bin/steptune --program examples/mnist/main.py --out FOLDER [--trials 10]

PROGRAM is main.py of https://github.com/pytorch/examples/tree/main/mnist, unmodified. `import torchvision` must work in
/usr/bin/python3 (Debian: python3-torchvision). If the data set is missing (../data, from the program's folder), the
script writes random images there, of the same number and size. The pictures do not affect the times.

Runs mnist.study.json on the program in FOLDER. A repeated call resumes an interrupted study there. Writes
mnist_step_parts.csv and .json to FOLDER, a table that `search_quality --table` reads. The table has the seconds per
sample, and the seconds of each part. If a parameter has no effect (prefetch without workers), the measurement is copied
for each of its values. Run it on a machine that does nothing else. It measures 320 configurations for at most 7 s each,
so it takes 40 minutes at most.
"""
import argparse
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import recorded_table  # noqa: E402

NAME = "mnist_step_parts"
PARTS = ("data", "prepare", "forward", "backward", "optimizer", "other")


def write_random_images(folder):
    """Writes files in the data set's format, with the same numbers of images."""
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(0)
    for name, count in (("train", 60000), ("t10k", 10000)):
        with open(os.path.join(folder, name + "-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + draw.randbytes(count * 28 * 28))
        with open(os.path.join(folder, name + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + bytes(draw.choices(range(10), k=count)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--program", required=True, help="main.py of PyTorch's MNIST example")
    parser.add_argument("--out", required=True, help="folder of the history and of the table")
    parser.add_argument("--trials", type=int, help="measure only this many configurations, to try the script")
    parser.add_argument("--commit", default="", help="commit of the examples, recorded in the table's description")
    arguments = parser.parse_args()

    folder = os.path.dirname(os.path.abspath(arguments.program))
    data = os.path.join(folder, "..", "data", "MNIST", "raw")
    if not os.path.exists(os.path.join(data, "train-images-idx3-ubyte")):
        write_random_images(data)

    study = recorded_table.read_study(os.path.join(HERE, "mnist.study.json"))
    study["working_directory"] = folder
    if arguments.trials is not None:
        study["budget"]["trials"] = arguments.trials
    # Debian's PyTorch uses all threads by default, so limit it to one.
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    trials = recorded_table.run_study(arguments.steptune, study, arguments.out, environment)
    parameters = study["parameters"]
    recorded_table.write_table(
        arguments.out, NAME, parameters, recorded_table.rows_of(trials, parameters, PARTS), PARTS,
        what="Seconds per sample, and in each part of a step, of PyTorch's MNIST example on a CPU",
        provenance={"repo": "https://github.com/pytorch/examples", "path": "mnist/main.py", "commit": arguments.commit,
                    "licence": "BSD-3-Clause (the program); the figures were measured with benchmarks/step_parts/record.py"},
        notes="Without workers prefetch has no effect: these rows are one measurement each. Noise of single runs is in the values.")


if __name__ == "__main__":
    main()
