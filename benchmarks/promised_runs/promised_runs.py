#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a study promised with the durations of long runs of its baseline and of its recommendation.

    promised_runs.py --steptune build/release/bin/steptune [--db FILE] [--minutes 10] STUDY.json|NAME

Run it on a machine that does nothing else, in the folder that the study's command expects. With a study file, runs the
study first. With the name of an existing study, does not tune again. Then runs each of the two configurations for
--minutes minutes under `steptune follow`. Prints a row for each of them, with two durations of the planned long run:
the study's promise and the prediction of `follow`. Both have 95 % intervals.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time


def answer(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {ran.returncode}")
    return json.loads(ran.stdout)


def hours(figure):
    value, low, high = (figure[key] for key in ("value", "low_95", "high_95"))
    interval = "" if low is None or high is None else f" ({low / 3600:.2f}-{high / 3600:.2f})"
    return f"{value / 3600:.2f} h{interval}"


def followed(steptune, study, trial, minutes):
    """Runs the trial's command for `minutes` and returns the last line that `steptune follow` prints about it."""
    shown = answer([*steptune, "show", study, str(trial), "--json"])["details"]
    environment = {**os.environ, **{key: str(value) for key, value in shown["environment"].items()}}
    log = f"{study}.trial-{trial}.follow.log"
    with open(log, "w", encoding="utf-8") as output:
        run = subprocess.Popen(
            [*steptune, "follow", study, "--trial", str(trial), "--json-lines", "--", *shown["argv"]],
            cwd=shown["working_directory"], env=environment, stdout=output, stderr=subprocess.STDOUT)
        time.sleep(60 * minutes)
        run.send_signal(signal.SIGINT)
        run.wait()
    with open(log, encoding="utf-8") as output:
        statements = [line for line in output if line.startswith('{"')]
    return json.loads(statements[-1]) if statements else sys.exit(f"{log}: steptune follow printed no statement about the run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--db", default="promised_runs.db")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("study")
    arguments = parser.parse_args()
    database = os.path.abspath(arguments.db)
    os.environ["STEPTUNE_DB"] = database
    steptune = [os.path.abspath(arguments.steptune) if os.sep in arguments.steptune else arguments.steptune]

    if os.path.isfile(arguments.study):
        tuned = subprocess.run([*steptune, "run", arguments.study, "--new", "--yes"], check=False)
        if tuned.returncode != 0:
            sys.exit(f"steptune run: exit status {tuned.returncode}")
    name = [] if os.path.isfile(arguments.study) else [arguments.study]
    best = answer([*steptune, "best", *name, "--json"])
    study, recommended = best["study"]["name"], best["trial"]

    print("| configuration | promised | followed | promise |\n|---|---|---|---|", flush=True)
    for label, trial in dict.fromkeys([("baseline", 1), ("recommended", recommended)]):
        said = followed(steptune, study, trial, arguments.minutes)
        configuration = " ".join(f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                                 for key, value in said["configuration"].items())
        print(f"| {label}: {configuration} | {hours(said['promised']['run_s'])} | {hours(said['seen']['run_s'])} "
              f"| {said['promise']} |", flush=True)


if __name__ == "__main__":
    main()
