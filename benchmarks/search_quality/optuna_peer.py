#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Optuna as a peer of search_quality: one study, controlled by lines of JSON.

The first line of stdin describes the space and the sampler. Then the script repeats two actions until stdin ends. First
it prints a line with a suggestion, and with the milliseconds that the suggestion and the `tell` before it took. Then it
reads a line with the values, or {"values": null} for a failure. Samplers ignore failed trials. Therefore a failure is
passed to Optuna as a trial with the worst values so far; before the first success it is passed as a failed trial. A
trial that was stopped early ({"fidelity": 0.25}) is passed as a pruned trial. The sampler optuna-gp-log gets logarithms
of the absolute values. All values must then have the same sign.
"""
import json
import math
import os
import sys
import time
import warnings

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState


def distribution(dimension):
    if dimension["kind"] == "categorical":
        return CategoricalDistribution(list(range(dimension["levels"])))
    if dimension["kind"] == "levels":
        return IntDistribution(0, dimension["levels"] - 1)
    return FloatDistribution(dimension["low"], dimension["high"], log=dimension["log"])


def sampler_of(request):
    name, seed = request["sampler"], request["seed"]
    if name in ("optuna-gp", "optuna-gp-log"):
        if not hasattr(optuna.samplers, "GPSampler"):
            sys.exit(f"{name} needs Optuna 3.6 or later, this is {optuna.__version__}: "
                     "--python names another interpreter")
        return optuna.samplers.GPSampler(seed=seed)
    multivariate = {"optuna-tpe": False, "optuna-tpe-multivariate": True}[name]
    return optuna.samplers.TPESampler(seed=seed, multivariate=multivariate)


def logarithm(value):
    """Returns a number that grows with the value: log(value), or -log(-value) for a negative value."""
    return math.log(value) if value > 0.0 else -math.log(-value)


def tell(study, trial, reply, worst, logarithms):
    values = reply["values"]
    if values is None:
        if worst:
            study.tell(trial, list(worst))
        else:
            study.tell(trial, state=TrialState.FAIL)
        return
    if logarithms:
        values = [logarithm(value) for value in values]
    if reply["fidelity"] < 1.0:
        trial.report(values[0], step=max(1, round(1000 * reply["fidelity"])))
        study.tell(trial, state=TrialState.PRUNED)
        return
    worst[:] = [max(pair) for pair in zip(worst, values)] if worst else values
    study.tell(trial, values)


def main():
    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    request = json.loads(sys.stdin.readline())
    space = {dimension["name"]: distribution(dimension) for dimension in request["space"]}
    directions = ["minimize"] * request["objectives"]
    study = optuna.create_study(sampler=sampler_of(request), directions=directions)
    logarithms = request["sampler"] == "optuna-gp-log"
    worst = []
    telling_s = 0.0
    while True:
        started = time.perf_counter()
        trial = study.ask(space)
        ms = 1e3 * (time.perf_counter() - started + telling_s)
        suggestion = {"x": [trial.params[name] for name in space], "ms": ms}
        print(json.dumps(suggestion), flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        started = time.perf_counter()
        tell(study, trial, json.loads(line), worst, logarithms)
        telling_s = time.perf_counter() - started


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
