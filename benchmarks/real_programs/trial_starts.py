#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many configurations a minute the three kinds of trials measure, and whether they agree.

    trial_starts.py --steptune build/release/bin/steptune [--trials 10] [--all-knobs] NAME -- COMMAND...

Run it in the program's folder on a machine that does nothing else. The same configurations, drawn at random from the
knobs that a running program can be switched to (--all-knobs: from all safe ones), are measured to +-5 % with "trials": "fresh",
"forked" and "live", without confirmation. Prints a row of the table in docs/hooks.md for each: seconds from launch to
the first step, configurations a minute, and how far their times are from those of fresh trials (median).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

KNOBS = os.path.join(os.path.dirname(__file__), "..", "..", "trial_runner", "hooks", "pytorch", "knobs.json")


def drafted(steptune, name, command):
    """The study file that `steptune` writes for the command."""
    subprocess.run([steptune, "check", "--name", name, "--", *command], check=True, stdout=subprocess.DEVNULL)
    with open(name + ".study.json", encoding="utf-8") as file:
        return json.loads("".join(line for line in file if not line.lstrip().startswith("//")))


def keep_switchable(study):
    with open(KNOBS, encoding="utf-8") as file:
        switchable = {knob["name"] for knob in json.load(file)["knobs"] if knob["applied"] == "live"}
    for section in (study["parameters"], study["baseline"], study["hooks"]["pytorch"]):
        for name in [name for name in section if name not in switchable]:
            del section[name]


def measured(steptune, study, mode):
    """Trials of the study's configurations in that mode, as `export` tells them, and the tuning's seconds."""
    study = dict(study, name=f"{study['name']}-{mode}", trials=mode)
    file = study["name"] + ".study.json"
    with open(file, "w", encoding="utf-8") as out:
        json.dump(study, out, indent=1)
    subprocess.run([steptune, "run", file, "--new", "--yes", "--quiet"], check=True)
    shown = [json.loads(subprocess.run([steptune, "show", study["name"], str(number), "--json"], check=True,
                                       stdout=subprocess.PIPE).stdout) for number in range(1, study["budget"]["trials"] + 1)]
    return [one for one in shown if one["trial"]["objectives"]], shown[0]["study"]["tuning_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--all-knobs", action="store_true")
    parser.add_argument("name")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    study = drafted(arguments.steptune, arguments.name, arguments.command)
    if not arguments.all_knobs:
        keep_switchable(study)
    study["name"] = arguments.name
    study["search"] = {"searcher": "random", "scheduler": "none"}
    study["budget"] = {"trials": arguments.trials}
    study["measure"] = dict(study.get("measure", {}), confirm_pairs=0, sentinels=False, target_half_width=0.05)

    fresh = {}
    for mode in ("fresh", "forked", "live"):
        trials, tuning_s = measured(arguments.steptune, study, mode)
        first_step_s = [one["details"]["trace"]["at_s"][0] for one in trials[1:] if one["details"]["trace"]["at_s"]]
        times = {json.dumps(one["trial"]["configuration"], sort_keys=True): one["trial"]["objectives"][0]["value"]
                 for one in trials[1:] if one["trial"]["purpose"] == "search"}
        fresh = fresh or times
        apart = [abs(math.log(value / fresh[key])) for key, value in times.items() if key in fresh]
        forked = sum(one["trial"]["placement"].get("start") == "forked" for one in trials)
        print(f"| {arguments.name} | {mode} | {statistics.median(first_step_s):.2f} s | {60 * len(trials) / tuning_s:.1f} | "
              f"{100 * statistics.median(apart):.1f} % | {len(trials)} trials in {tuning_s:.1f} s, {forked} forked |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
