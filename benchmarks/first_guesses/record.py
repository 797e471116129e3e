#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records an example program over the combinations of its settings, as a tuning table for `first_guesses --table`.

    record.py --steptune build/release/bin/steptune --programs build/release/bin --out FOLDER char_gpt

The last argument is char_gpt, image_classifier or pytorch_resnet. Measures each combination of the example's settings
in a fresh process for some seconds. The settings are those of the example's study file. Writes PROGRAM.csv and
PROGRAM.json to FOLDER. The same command continues an interrupted recording in FOLDER. `prefetch` is always 2, and the
allocator is always the default one. A recording therefore takes less than ten minutes on two cores. Run it on a machine
that does nothing else.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import recorded_table  # noqa: E402

PROGRAMS = ("char_gpt", "image_classifier", "pytorch_resnet")
KEPT = {"prefetch": [2], "allocator": {"default": ""}}
# A constraint decides this parameter's value from another parameter. Tables cannot express constraints.
FOLLOWS = {"char_gpt": ["accumulate"]}


def study_of(program, arguments):
    root = os.path.dirname(os.path.dirname(HERE))
    study = recorded_table.read_study(os.path.join(root, "examples", program, "study.json"))
    data = os.path.join(os.path.abspath(arguments.out), "data")
    programs = os.path.abspath(arguments.programs)
    words = {"examples/image_classifier/data": data}
    study["command"] = [words.get(word, word.replace("build/release/bin", programs)) if isinstance(word, str) else word
                        for word in study["command"]]
    study["working_directory"] = root
    for name, choices in KEPT.items():
        if name in study["parameters"]:
            study["parameters"][name]["choices"] = choices
    study["search"] = {"searcher": "grid", "scheduler": "none"}
    study["budget"] = {"trials": 1000, "consecutive_failures": 50}
    study["measure"] = {"target_half_width": 0.04, "min_window": "2s", "max_trial": "6s", "confirm_pairs": 0}
    if program == "image_classifier" and not os.path.exists(data):
        subprocess.run([os.path.join(programs, "image_classifier"), "--generate", data], check=True)
    return study


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--programs", default=".", help="folder of the built examples")
    parser.add_argument("--out", required=True, help="folder of the history and of the table")
    parser.add_argument("program", choices=PROGRAMS)
    arguments = parser.parse_args()

    os.makedirs(arguments.out, exist_ok=True)
    study = study_of(arguments.program, arguments)
    trials = recorded_table.run_study(arguments.steptune, study, os.path.join(arguments.out, arguments.program))
    left_out = [*KEPT, *FOLLOWS.get(arguments.program, [])]
    parameters = {name: parameter for name, parameter in study["parameters"].items() if name not in left_out}
    recorded_table.write_table(
        arguments.out, arguments.program, parameters, recorded_table.rows_of(trials, parameters),
        baseline={name: study["baseline"][name] for name in parameters},
        what=f"Seconds per sample of examples/{arguments.program} on a CPU, and what each trial took from start to end",
        provenance={"path": f"examples/{arguments.program}", "licence": "Apache-2.0",
                    "measured_with": "benchmarks/first_guesses/record.py"},
        notes="One trial each: the noise of single runs is in the values.")


if __name__ == "__main__":
    main()
