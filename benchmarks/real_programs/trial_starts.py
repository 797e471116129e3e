#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many configurations a minute each kind of trial measures, and whether the kinds agree.

    trial_starts.py --steptune build/release/bin/steptune [--trials 10] [--rounds 2] [--kinds fresh,forked]
                    [--max-trial 60s] [--all-knobs] [--start-up 20] NAME -- COMMAND...

Run it in the program's folder on a machine that does nothing else. If other programs use the machine, ask for more
rounds. The kinds of trials take turns, so the load affects all of them. A kind is a value of the study file's "trials",
such as "fresh" or "forked". Each round measures the same configurations to +-5 % with each kind, without confirmation.
The configurations are random values of the knobs that a running program can switch (--all-knobs: of all safe knobs).
With --start-up, slow_start.py runs `python3 PROGRAM ...` and makes its start take that many seconds longer.

Prints a row of the table in README.md for each kind:
- seconds from launch to the first step;
- configurations a minute, the baseline included;
- median difference from trials of the first kind in --kinds (compares times relative to the baseline's);
- median difference from the first round of the same kind (compares the same relative times);
- median half-width.
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

SLOW_START = os.path.join(os.path.dirname(__file__), "slow_start.py")
HOOK = pathlib.Path(__file__).resolve().parents[2] / "trial_runner" / "hooks" / "python" / "steptune_hook"


def drafted(steptune, name, command):
    """Returns the study file that `steptune` writes for the command."""
    subprocess.run([steptune, "check", "--name", name, "--", *command], check=True, stdout=subprocess.DEVNULL)
    with open(name + ".study.json", encoding="utf-8") as file:
        return json.loads("".join(line for line in file if not line.lstrip().startswith("//")))


def keep_switchable(study):
    switchable = set()
    for file in HOOK.rglob("knobs.json"):
        for knob in json.loads(file.read_text(encoding="utf-8"))["knobs"]:
            # A family names the knobs that it takes from all programs.
            if isinstance(knob, dict) and knob["applied"] == "live":
                switchable.add(knob["name"])
    for section in (study["parameters"], study["baseline"], study["hooks"]["python"]):
        for name in [name for name in section if name not in switchable]:
            del section[name]


def measured(steptune, study, kind, round_number):
    """Tunes with trials of the kind `kind`. Returns the trials as `steptune show` prints them, and the tuning time in
    seconds."""
    study = dict(study, name=f"{study['name']}-{kind}-{round_number}", trials=kind)
    file = study["name"] + ".study.json"
    with open(file, "w", encoding="utf-8") as out:
        json.dump(study, out, indent=1)
    subprocess.run([steptune, "run", file, "--new", "--yes", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    shown = []
    for number in range(1, study["budget"]["trials"] + 1):
        ended = subprocess.run([steptune, "show", study["name"], str(number), "--json"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if ended.returncode != 0:  # no such trial: a study of a small space has fewer trials
            break
        shown.append(json.loads(ended.stdout))
    return [one for one in shown if one["trial"]["objectives"]], shown[0]["study"]["tuning_s"]


class Tally:
    """Results of one kind of trial, over all rounds."""

    def __init__(self):
        self.trials = 0
        self.tuning_s = 0.0
        self.first_step_s = []
        self.half_widths = []
        self.ratios = {}  # time divided by the baseline's in the same round; the key is (round, configuration)

    def add(self, trials, tuning_s, round_number):
        self.trials += len(trials)
        self.tuning_s += tuning_s
        baseline = trials[0]["trial"]["objectives"][0]["value"]
        for one in trials[1:]:
            time = one["trial"]["objectives"][0]
            if one["details"]["trace"]["at_s"]:
                self.first_step_s.append(one["details"]["trace"]["at_s"][0])
            self.half_widths.append(time["half_width_95"] / time["value"])
            key = round_number, json.dumps(one["trial"]["configuration"], sort_keys=True)
            self.ratios[key] = time["value"] / baseline

    def row(self, name, kind, fresh):
        apart = [abs(math.log(ratio / fresh.ratios[key])) for key, ratio in self.ratios.items() if key in fresh.ratios]
        again = [abs(math.log(ratio / self.ratios[1, configuration]))
                 for (number, configuration), ratio in self.ratios.items()
                 if number > 1 and (1, configuration) in self.ratios]
        median = lambda values: statistics.median(values) if values else math.nan
        return (f"| {name} | {kind} | {median(self.first_step_s):.2f} s | {60 * self.trials / self.tuning_s:.1f} | "
                f"{100 * median(apart):.1f} % | {100 * median(again):.1f} % | {100 * median(self.half_widths):.1f} % | "
                f"{self.trials} trials in {self.tuning_s:.0f} s |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--trials", type=int, default=10, help="trials of each kind in a round, baseline included")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kinds", default="fresh,forked", help="kinds of trials; the others are compared with the first one")
    parser.add_argument("--max-trial", default="60s")
    parser.add_argument("--all-knobs", action="store_true")
    parser.add_argument("--start-up", type=float, default=0.0, help="seconds added to the program's start")
    parser.add_argument("name")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(",")

    command = arguments.command
    if arguments.start_up > 0.0:
        command = [command[0], os.path.abspath(SLOW_START), f"{arguments.start_up:g}", *command[1:]]
    # A study that is run again would get another name in the same history.
    os.environ["STEPTUNE_DB"] = os.path.join(tempfile.mkdtemp(prefix=arguments.name + "-"), "history.db")
    print("trials are kept in " + os.environ["STEPTUNE_DB"], file=sys.stderr)
    study = drafted(arguments.steptune, arguments.name, command)
    if not arguments.all_knobs:
        keep_switchable(study)
    study["name"] = arguments.name
    study["search"] = {"searcher": "random", "scheduler": "none", "seed": 1}
    study["budget"] = {"trials": arguments.trials}
    study["measure"] = dict(study.get("measure", {}), confirm_pairs=0, sentinels=False, target_half_width=0.05,
                            max_trial=arguments.max_trial)

    tallies = {kind: Tally() for kind in kinds}
    for round_number in range(1, arguments.rounds + 1):
        for kind in kinds if round_number % 2 else reversed(kinds):
            tallies[kind].add(*measured(arguments.steptune, study, kind, round_number), round_number)
    for kind in kinds:
        print(tallies[kind].row(arguments.name, kind, tallies[kinds[0]]))


if __name__ == "__main__":
    main()
