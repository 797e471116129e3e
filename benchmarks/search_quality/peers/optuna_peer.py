# SPDX-License-Identifier: Apache-2.0
"""Optuna: TPE and the Gaussian process. `optuna-gp-log` gets log(value), or -log(-value) for a negative value."""
import math
import sys

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
    name, seed = request["searcher"], request["seed"]
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


class Optuna:
    def __init__(self, request):
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = {dimension["name"]: distribution(dimension) for dimension in request["space"]}
        self._study = optuna.create_study(sampler=sampler_of(request),
                                          directions=["minimize"] * request["objectives"])
        self._logarithms = request["searcher"] == "optuna-gp-log"
        self._trial = None

    def ask(self):
        self._trial = self._study.ask(self._space)
        return [self._trial.params[name] for name in self._space]

    def _scaled(self, values):
        return [logarithm(value) for value in values] if self._logarithms else list(values)

    def tell(self, values):
        self._study.tell(self._trial, self._scaled(values))

    def tell_failure(self, worst):
        if worst:
            self.tell(worst)
        else:
            self._study.tell(self._trial, state=TrialState.FAIL)

    def tell_stopped(self, values, fidelity):
        self._trial.report(self._scaled(values)[0], step=max(1, round(1000 * fidelity)))
        self._study.tell(self._trial, state=TrialState.PRUNED)


def make(request):
    return Optuna(request)
