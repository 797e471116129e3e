#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares how many seconds of trials Steptune and Optuna's TPE need until their answer is within 3 % of the best.

Both tune the same recorded table with the same noise, launch variation and start-up time. Steptune runs as users run
it: `steptune run`, with the replay runner, its default searcher and a time budget. Its answer is the final
recommendation, and its seconds are the study's. A TPE trial has a fixed length: the start-up and then `--fixed`
seconds. A configuration that fails takes only the start-up. TPE's answer after each trial is the configuration with the
best mean so far.

Prints, for each budget, the share of seeds whose answer is truly within 3 % of the table's best. A seed succeeds with a
budget if its answer at the end of the budget is within 3 %. `seconds` is the lowest budget such that at least half of
the seeds succeed with it and with every higher budget. `seconds_80` is the same for 80 % of the seeds.

    benchmarks/tuning_time/tuning_time.py --steptune build/release/bin/steptune TABLE.json[:COLUMN] ...

A table is a CSV file and a JSON file that describes it (docs/internals/study-file.md). Needs python3-optuna.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import warnings

import optuna

BUDGETS_S = [300 * 1.5 ** i for i in range(10)]  # 5 minutes to 3.2 hours
WITHIN = 0.03


class Table:
    """A recorded table: the time of each measured configuration."""

    def __init__(self, argument):
        path, _, column = argument.partition(":")
        self.path = pathlib.Path(path).resolve()
        description = json.loads(self.path.read_text())
        self.column = column or description["objective"]
        self.names = [parameter["name"] for parameter in description["params"]]
        self.levels = {p["name"]: [str(value) for value in p["values"]] for p in description["params"]}
        self.values = {}
        with open(self.path.with_name(description["csv"]), newline="") as file:
            for row in csv.DictReader(file):
                if row[self.column]:
                    self.values[tuple(row[name] for name in self.names)] = float(row[self.column])
        self.best = min(self.values.values())
        ranked = sorted(self.values, key=self.values.get)
        self.median = ranked[len(ranked) // 2]

    def is_near_best(self, configuration):
        return self.values[configuration] <= self.best * (1 + WITHIN)


def steptune_study(table, options, budget_s, seed):
    def parameter(name):
        levels = table.levels[name]
        if all(is_number(level) for level in levels):
            return {"type": "ordinal", "choices": [number(level) for level in levels]}
        return {"type": "categorical", "choices": levels}

    return {
        "name": "tuning-time",
        "parameters": {name: parameter(name) for name in table.names},
        "baseline": {name: number(value) if is_number_column(table, name) else value
                     for name, value in zip(table.names, table.median)},
        "planned_run": {"samples": options.planned_hours * 3600 / table.values[table.median], "batch_size": 1},
        "objectives": ["time"],
        "budget": {"time": budget_s},
        "search": {"seed": seed},
        "runner": {"type": "replay", "table": str(table.path), "objective_column": table.column,
                   "startup": options.startup, "noise": options.noise, "launch_variation": options.launch_variation},
    }


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def is_number_column(table, name):
    return all(is_number(level) for level in table.levels[name])


def run_steptune(table, options, budget_s, seed):
    """Runs Steptune and returns these figures. near_best: True if the recommendation is within 3 % of the table's best.
    elapsed_s: duration of the study. false_claim: True if a speed-up is claimed but not true. interval_held: True if
    the interval contains the true speed-up, None without a claim."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder) / "study.json"
        study.write_text(json.dumps(steptune_study(table, options, budget_s, seed)))
        done = subprocess.run([options.steptune, "run", str(study), "--json"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        try:
            result = json.loads(done.stdout)
            recommendation = result["recommendation"]
            configuration = tuple(str(recommendation["configuration"][name]) for name in table.names)
        except (ValueError, KeyError, TypeError):
            sys.exit(f"steptune ended with {done.returncode}: {done.stderr[-2000:]}")
    speed_up = recommendation["speed_up"]
    truth = table.values[table.median] / table.values[configuration]
    held = None
    if recommendation["claim"] == "faster":
        held = speed_up["low_95"] <= truth <= speed_up["high_95"]
    return {"near_best": table.is_near_best(configuration), "elapsed_s": result["study"]["tuning_s"],
            "false_claim": recommendation["claim"] == "faster" and truth <= 1, "interval_held": held}


def run_tpe(table, options, most_s, seed):
    """Returns a list with (seconds, near) for each trial. `near` is True if the best configuration so far is truly
    within 3 % of the table's best."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=options.multivariate))
    chance = random.Random(seed)
    # Noise of the mean of `--fixed` seconds. A step takes 0.1 s, and neighbouring steps have a correlation of 0.3.
    noise_of_mean = options.noise * math.sqrt(0.1 / options.fixed * 1.3 / 0.7)
    elapsed_s, best, answer, course = 0.0, math.inf, table.median, []
    while elapsed_s < most_s:
        trial = study.ask()
        configuration = tuple(suggested(trial, table, name) for name in table.names)
        truth = table.values.get(configuration)
        if truth is None:
            elapsed_s += options.startup
            study.tell(trial, max(table.values.values()))  # with state FAIL it would be suggested again
        else:
            elapsed_s += options.startup + options.fixed
            measured = truth * (1 + options.launch_variation * chance.gauss(0, 1)) * (1 + noise_of_mean * chance.gauss(0, 1))
            study.tell(trial, measured)
            if measured < best:
                best, answer = measured, configuration
        course.append((elapsed_s, table.is_near_best(answer)))
    return course


def suggested(trial, table, name):
    levels = table.levels[name]
    if is_number_column(table, name):
        return levels[trial.suggest_int(name, 0, len(levels) - 1)]
    return trial.suggest_categorical(name, levels)


def near_after(course, budget_s):
    before = [near for elapsed_s, near in course if elapsed_s <= budget_s]
    return before[-1] if before else False


def least_budget(shares, wanted):
    """Returns the lowest budget such that this budget and all higher ones reach the share `wanted`, otherwise None."""
    reached = None
    for budget_s, share in sorted(shares.items(), reverse=True):
        if share < wanted:
            break
        reached = budget_s
    return reached


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="TABLE.json[:COLUMN]")
    parser.add_argument("--steptune", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--fixed", type=float, default=60, help="seconds that a TPE trial trains")
    parser.add_argument("--startup", type=float, default=10, help="seconds from launch to the first step")
    parser.add_argument("--noise", type=float, default=0.1, help="relative standard deviation of a step")
    parser.add_argument("--launch-variation", type=float, default=0.01)
    parser.add_argument("--planned-hours", type=float, default=1000, help="hours of the planned run with the baseline")
    parser.add_argument("--multivariate", action="store_true", help="TPE's multivariate variant")
    parser.add_argument("--budgets", type=float, nargs="+", default=BUDGETS_S, help="budgets in seconds")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for table in map(Table, options.tables):
        shares = {"steptune": {}, "tpe": {}}
        runs = []
        courses = [run_tpe(table, options, max(options.budgets), seed) for seed in seeds]
        for budget_s in options.budgets:
            runs_of_budget = [run_steptune(table, options, budget_s, seed) for seed in seeds]
            runs += runs_of_budget
            shares["steptune"][budget_s] = statistics.mean(run["near_best"] for run in runs_of_budget)
            shares["tpe"][budget_s] = statistics.mean(near_after(course, budget_s) for course in courses)
            print(f"{table.path.stem}: {budget_s:.0f} s: steptune {shares['steptune'][budget_s]:.2f}, "
                  f"tpe {shares['tpe'][budget_s]:.2f}", file=sys.stderr)
        held = [run["interval_held"] for run in runs if run["interval_held"] is not None]
        print(json.dumps({
            "table": table.path.stem, "near_best": sum(map(table.is_near_best, table.values)), "of": len(table.values),
            "seconds": {name: least_budget(share, 0.5) for name, share in shares.items()},
            "seconds_80": {name: least_budget(share, 0.8) for name, share in shares.items()},
            "shares": shares, "studies": len(runs), "false_claims": sum(run["false_claim"] for run in runs),
            "claims": len(held), "intervals_held": statistics.mean(held) if held else None,
        }), flush=True)


if __name__ == "__main__":
    main()
