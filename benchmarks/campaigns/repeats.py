#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges revisions of a real program again and again: how often does `steptune judge` decide, and is it right?

    repeats.py run   --repository DIR --base REVISION --others REVISION... [--repeats 20] [--time 90s]
                     [--steptune PATH] --output FILE -- COMMAND...
    repeats.py table FILE

`run` calls `steptune judge --git BASE OTHER` for each of the other revisions in turn, `--repeats` times, in the folder
`--repository`. It appends one JSON line for each call to the output file. If the file already has lines, it continues
after them. `table` prints one row for each revision as Markdown. The pairs of all its calls together give its `speed-up
by all pairs`, with a 95 % interval. README.md explains the figures.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

# 97.5 % quantile of the normal distribution. All calls together have so many pairs that Student's quantile is nearly
# the same.
Z_95 = 1.96


def log_ratios(database):
    """Returns the logarithm of each pair's ratio, base to other: above 0 if the other revision is faster."""
    times = collections.defaultdict(dict)
    with sqlite3.connect(database) as history:
        for pair, purpose, value in history.execute(
                "SELECT confirm_pair, purpose, objective_1 FROM trials WHERE purpose LIKE 'confirm%' "
                "AND status = 'completed'"):
            times[pair][purpose] = value
    return [math.log(runs["confirm_baseline"] / runs["confirm_incumbent"]) for runs in times.values()
            if len(runs) == 2]


def judge(options, other):
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder, "history.db")
        command = [options.steptune, "judge", "--json", "--db", str(database), "--time", options.time,
                   "--git", options.base, other, "--", *options.command]
        ended = subprocess.run(command, cwd=options.repository, capture_output=True, text=True, check=False)
        result = {"revision": other, "exit_code": ended.returncode, "date": time.strftime("%Y-%m-%d", time.gmtime()),
                  "load": os.getloadavg()[0]}
        try:
            answer = json.loads(ended.stdout)["judge"]
        except (ValueError, KeyError):
            return result | {"verdict": "failed", "message": ended.stderr[-2000:]}
        judged = answer["commands"][1]
        return result | {"verdict": answer["verdict"], "spent_s": answer["spent_s"], "more_s": judged["more_s"],
                         "speed_up": judged["speed_up"], "log_ratios": log_ratios(database)}


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(options):
    done = collections.Counter(call["revision"] for call in read(options.output))
    for repeat in range(options.repeats):
        for other in options.others:
            if done[other] > repeat:
                continue
            call = judge(options, other)
            with options.output.open("a") as output:
                output.write(json.dumps(call) + "\n")
            print(f"{other} {repeat + 1}: {call['verdict']} {call.get('speed_up')}", file=sys.stderr, flush=True)


def table(options):
    calls = read(options.output)
    print("| revision | calls | faster | slower | tied | undecided | failed | pairs in a call | half-width in a call "
          "| speed-up by all pairs | calls whose interval includes it | more time that calls ask for |")
    print("|---" * 12 + "|")
    for revision in dict.fromkeys(call["revision"] for call in calls):
        own = [call for call in calls if call["revision"] == revision]
        verdicts = collections.Counter(call["verdict"] for call in own)
        known = [call["speed_up"] for call in own if call.get("speed_up") and call["speed_up"]["low_95"]]
        ratios = [ratio for call in own for ratio in call.get("log_ratios", ())]
        mean = statistics.fmean(ratios)
        half = Z_95 * statistics.stdev(ratios) / math.sqrt(len(ratios))
        widths = [math.log(speed_up["high_95"] / speed_up["low_95"]) / 2 for speed_up in known]
        covered = sum(speed_up["low_95"] <= math.exp(mean) <= speed_up["high_95"] for speed_up in known)
        more = [call["more_s"] for call in own if call.get("more_s")]
        cells = [revision, len(own), *(verdicts[name] for name in ("faster", "slower", "tied", "undecided", "failed")),
                 f"{statistics.fmean(speed_up['pairs'] for speed_up in known):.1f}",
                 f"{100 * statistics.median(widths):.1f} %",
                 f"{math.exp(mean):.3f} ({math.exp(mean - half):.3f}-{math.exp(mean + half):.3f}; {len(ratios)} pairs)",
                 f"{covered} of {len(known)}", f"{statistics.median(more) / 60:.0f} min" if more else "-"]
        print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    runs = parts.add_parser("run")
    runs.add_argument("--repository", type=pathlib.Path, required=True)
    runs.add_argument("--base", required=True)
    runs.add_argument("--others", nargs="+", required=True)
    runs.add_argument("--repeats", type=int, default=20)
    runs.add_argument("--time", default="90s")
    runs.add_argument("--steptune", default="steptune")
    runs.add_argument("--output", type=pathlib.Path, required=True)
    runs.add_argument("command", nargs="+")
    runs.set_defaults(action=run)
    tables = parts.add_parser("table")
    tables.add_argument("output", type=pathlib.Path)
    tables.set_defaults(action=table)
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
