#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what `steptune run -- COMMAND` finds for an unmodified program, and how long the whole program then takes.

    real_programs.py --steptune build/release/bin/steptune [--time 3m] [--ignore REGEX] NAME -- COMMAND...

Run it in the program's folder on a machine that does nothing else. COMMAND must end without help. It should run much
longer than its interpreter takes to start, since the start-up is part of all measured times.

1. Tunes the command for --time: survey, study file, trials, confirmation.
2. Runs the command to its end: untouched, by `steptune exec NAME`, by `exec`, untouched.
3. Compares the outputs. Ignores text that --ignore matches (times, dates).

Prints a row of the table in README.md.
"""
import argparse
import json
import math
import re
import subprocess
import sys
import time


def finished(command, log):
    """Runs the command. Returns its duration in seconds and its output."""
    begun = time.monotonic()
    with open(log, "w", encoding="utf-8") as errors:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, check=False)
    seconds = time.monotonic() - begun
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {ran.returncode}, see {log}")
    return seconds, ran.stdout.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="steptune")
    parser.add_argument("--time", default="3m", help="tuning time")
    parser.add_argument("--option", action="append", default=[], help="further option of `run`, such as --option=--safe")
    parser.add_argument("--ignore", action="append", default=[], help="regular expression of output that differs from run to run")
    parser.add_argument("name")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    steptune, name, command = arguments.steptune, arguments.name, arguments.command

    tuned = subprocess.run([steptune, "run", "--name", name, "--new", "--yes", "--time", arguments.time, *arguments.option,
                            "--", *command], check=False)
    if tuned.returncode != 0:
        sys.exit(f"steptune run: exit status {tuned.returncode}")
    # A second study of the same name gets another name, so ask for the latest study.
    best = json.loads(subprocess.run([steptune, "best", "--json"], stdout=subprocess.PIPE, check=False).stdout)
    study = best["study"]["name"]

    taken = {"before": [], "after": []}
    printed = []
    for number, which in enumerate(("before", "after", "after", "before")):
        run = command if which == "before" else [steptune, "exec", study, "--", *command]
        seconds, output = finished(run, f"{name}.{number}.stderr")
        taken[which].append(seconds)
        for pattern in arguments.ignore:
            output = re.sub(pattern, "", output)
        printed.append(output)
        print(f"{which}: {seconds:.1f} s", file=sys.stderr)
    before, after = (math.sqrt(math.prod(taken[which])) for which in ("before", "after"))
    said = best["recommendation"]["speed_up"]
    claim = f"{said['ratio']:.2f} ({said['low_95']:.2f}-{said['high_95']:.2f}; {said['pairs']} pairs)" if said else "-"
    same = "the same" if printed[1] == printed[0] else "differs"
    if printed[3] != printed[0]:
        same += ", as two untouched runs do"
    print(f"| {study} | {claim} | {before:.1f} s | {after:.1f} s | {before / after:.2f} | {same} |")


if __name__ == "__main__":
    main()
