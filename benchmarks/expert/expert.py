#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much of an expert's gain `steptune run -- COMMAND` finds, and how many needless changes it recommends.

    expert.py truth [--only NAME...] [--seconds 10] [--write]
    expert.py tune  [--only NAME...] [--steptune PATH] [--time 3m] [--neighbour] [--repeat N] [--output FILE]
    expert.py table FILE...

`truth` measures the speed-up of each program by the best known settings, in runs that alternate with runs of the
untouched program. `tune` runs Steptune on the untouched program. If Steptune claims a gain, `tune` measures the
recommended settings in the same way. `table` prints results as Markdown. README.md explains the figures.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import programs
from neighbour import Neighbour
from programs import Copy, Fault

# A program with a smaller true gain counts as having nothing to gain (Steptune's `--worth 5%`).
WORTH = 1.05
# Share of the possible gain, on a log scale, that counts as found.
FOUND = 0.9


def in_turns(first, second, rounds):
    """Runs a program in two ways, in the order A B B A ..., and returns the speeds of each. Slow changes of the
    machine's speed therefore affect both alike."""
    speeds = ([], [])
    for turn in range(rounds):
        for which in ((0, 1) if turn % 2 == 0 else (1, 0)):
            speeds[which].append((first, second)[which]())
    return speeds


def mean_ratio(first, second):
    """Returns the geometric mean of `second`, divided by the geometric mean of `first`. Both are lists of speeds."""
    return math.exp(statistics.fmean(map(math.log, second)) - statistics.fmean(map(math.log, first)))


def measure_truth(program, options):
    with Copy(program) as untouched, Copy(program, best=True) as best:
        speeds = in_turns(lambda: untouched.speed(options.seconds), lambda: best.speed(options.seconds), options.rounds)
    return {"speed_up": round(mean_ratio(*speeds), 3),
            "untouched_lines_per_s": [round(speed, 3) for speed in speeds[0]],
            "best_lines_per_s": [round(speed, 3) for speed in speeds[1]],
            "seconds_each": options.seconds, "cpus": len(os.sched_getaffinity(0)),
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


def truth(options):
    for program in programs.all_programs(options.only):
        measured = measure_truth(program, options)
        print(f"{program.name:18} {measured['speed_up']:7.2f}  untouched {measured['untouched_lines_per_s']}"
              f"  best {measured['best_lines_per_s']}", flush=True)
        if options.write:
            path = program.folder / programs.DESCRIPTION
            text = json.loads(path.read_text())
            text["measured"] = measured
            path.write_text(json.dumps(text, indent=2) + "\n")


def run_steptune(program, copy, options):
    """Runs `steptune run`. Returns its JSON (None if it printed none), its duration in seconds, and the ended process."""
    command = [options.steptune, "run", "--name", program.name, "--json", "--time", options.time, *options.option,
               "--", *program.command]
    begun = time.monotonic()
    ran = subprocess.run(command, cwd=copy.path, env=programs.ENVIRONMENT, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - begun
    if options.keep:
        kept = pathlib.Path(options.keep)
        kept.mkdir(parents=True, exist_ok=True)
        (kept / f"{program.name}.json").write_text(ran.stdout)
        (kept / f"{program.name}.log").write_text(ran.stderr)
        history = copy.path / ".steptune" / "history.db"
        if history.exists():
            shutil.copy(history, kept / f"{program.name}.db")
    try:
        return json.loads(ran.stdout), seconds, ran
    except ValueError:
        return None, seconds, ran


def changes(result):
    """Returns the settings that the recommendation changes, with their values."""
    recommendation = result["recommendation"]
    return {name: recommendation["configuration"][name] for name in recommendation["changed"]}


def gain_share(speed_up, possible):
    """Returns the share of the possible gain on a log scale: 2x is half of 4x. None if there is nothing to gain."""
    if possible < WORTH:
        return None
    return math.log(max(speed_up, 1e-3)) / math.log(possible)


def judge(program, copy, result, options):
    """Returns the figures of one tuning."""
    recommendation = result["recommendation"]
    if recommendation is None:
        return {"verdict": result["end"], "claimed": None, "interval": None, "changes": {}, "true": 1.0}
    shown_gain = recommendation["speed_up"]
    figures = {"verdict": recommendation["claim"], "end": result["end"],
               "trials": sum(result["leaderboard"]["counts"].values()),
               "best_shown": shown_gain and shown_gain["ratio"], "claimed": None, "interval": None, "changes": {}, "true": 1.0}
    if recommendation["claim"] != "faster":
        return figures
    figures["claimed"] = shown_gain["ratio"]
    figures["interval"] = [shown_gain["low_95"], shown_gain["high_95"]]
    figures["changes"] = changes(result)
    command = [options.steptune, "exec", result["study"]["name"]]
    speeds = in_turns(lambda: copy.speed(options.seconds),
                      lambda: programs.speed(program, command, copy.path, options.seconds, 3.0), options.rounds)
    figures["true"] = round(mean_ratio(*speeds), 3)
    return figures


def tune_once(program, options, number):
    beside = Neighbour(options.seed + number) if options.neighbour else contextlib.nullcontext()
    with Copy(program) as copy:
        with beside:
            result, seconds, ran = run_steptune(program, copy, options)
        figures = {"program": program.name, "limit": program.limit, "possible": program.possible,
                   "time": options.time, "neighbour": options.neighbour, "seconds": round(seconds, 1),
                   "exit_status": ran.returncode}
        if result is None:
            last = ran.stderr.strip().splitlines()[-1:] or ["no message"]
            figures |= {"verdict": "no result", "why": last[0], "claimed": None, "interval": None, "changes": {}, "true": 1.0}
        else:
            figures |= judge(program, copy, result, options)
    figures["needless"] = sorted(set(figures["changes"]) - program.pays)
    figures["claimed_share"] = gain_share(figures["claimed"] or 1.0, program.possible)
    figures["true_share"] = gain_share(figures["true"], program.possible)
    return figures


def tune(options):
    for number in range(options.repeat):
        for program in programs.all_programs(options.only):
            if program.measured is None:
                raise Fault(f"{program.name}: no truth yet; run `expert.py truth --write --only {program.name}`")
            figures = tune_once(program, options, number)
            with open(options.output, "a", encoding="utf-8") as file:
                file.write(json.dumps(figures) + "\n")
            print(row(figures), flush=True)


HEADER = """\
| program | limited by | possible | verdict | claimed (95 %) | recommended, measured | share of gain claimed | needless | seconds |
|---|---|---|---|---|---|---|---|---|"""


def row(figures):
    claim = measured = "-"
    if figures["claimed"] is not None:
        measured = f"{figures['true']:.2f}"
        low, high = figures["interval"]
        claim = f"{figures['claimed']:.2f} ({low:.2f}-{high:.2f})"
    share = figures["claimed_share"]
    return (f"| {figures['program']} | {figures['limit']} | {figures['possible']:.2f} | {figures['verdict']} | {claim} | "
            f"{measured} | {'-' if share is None else f'{100 * share:.0f} %'} | "
            f"{', '.join(figures['needless']) or '0'} | {figures['seconds']:.0f} |")


def found_the_gain(figures):
    """Returns True if the claimed gain and the true gain are both at least nine tenths of the possible gain. If there
    is nothing to gain, returns True if Steptune claims nothing."""
    if figures["claimed_share"] is None:
        return figures["claimed"] is None
    return min(figures["claimed_share"], figures["true_share"]) >= FOUND


def is_decided_rightly(figures):
    """Returns True if a claimed gain is at least 5 % as measured, or if nothing is claimed and less can be gained."""
    if figures["claimed"] is None:
        return figures["possible"] < WORTH
    return figures["true"] >= WORTH


def is_false_claim(figures):
    return figures["claimed"] is not None and figures["true"] < 1.0


def table(options):
    for path in options.file:
        results = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
        print(f"{path}\n\n{HEADER}")
        for figures in results:
            print(row(figures))
        shares = [figures["claimed_share"] for figures in results if figures["claimed_share"] is not None]
        mean = f"{100 * statistics.fmean(shares):.0f} %" if shares else "-"
        print(f"\n{sum(map(is_decided_rightly, results))} of {len(results)} decided rightly; "
              f"{sum(map(is_false_claim, results))} false claims; "
              f"{sum(map(found_the_gain, results))} found the gain; mean share of the gain claimed {mean}; "
              f"needless changes: {sum(len(figures['needless']) for figures in results)}; "
              f"{sum(figures['seconds'] for figures in results):.0f} s\n")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, action in (("truth", truth), ("tune", tune)):
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these programs; default: all")
        command.add_argument("--seconds", type=float, default=10, help="measured seconds of each run (default: 10)")
        command.add_argument("--rounds", type=int, default=2, help="runs of each kind, in turns (default: 2)")
    commands.choices["truth"].add_argument("--write", action="store_true", help="write the figures into truth.json")
    command = commands.choices["tune"]
    command.add_argument("--steptune", default="steptune", help="program to judge")
    command.add_argument("--time", default="3m", help="time of tuning (default: 3m)")
    command.add_argument("--option", action="append", default=[], help="further option of `run`, such as --option=--safe")
    command.add_argument("--neighbour", action="store_true", help="tune next to an intermittent neighbour")
    command.add_argument("--seed", type=int, default=1, help="seed of the neighbour's pauses (default: 1)")
    command.add_argument("--repeat", type=int, default=1, help="tunings of each program (default: 1)")
    command.add_argument("--output", default="expert.jsonl", help="file to append results to (default: %(default)s)")
    command.add_argument("--keep", metavar="FOLDER", help="keep Steptune's JSON, messages and history here")
    command = commands.add_parser("table")
    command.set_defaults(action=table)
    command.add_argument("file", nargs="+", help="results of `tune`")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if getattr(options, "steptune", None) and "/" in options.steptune:
        options.steptune = str(pathlib.Path(options.steptune).resolve())
    try:
        options.action(options)
    except Fault as fault:
        sys.exit(f"expert.py: {fault}")


if __name__ == "__main__":
    main()
