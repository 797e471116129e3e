# SPDX-License-Identifier: Apache-2.0
"""SMAC3 with the defaults of its facade for hyperparameters: a random forest, and logarithms of the values."""
import tempfile

from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory import StatusType, TrialValue


def hyperparameter(dimension):
    if dimension["kind"] == "categorical":
        return Categorical(dimension["name"], list(range(dimension["levels"])))
    if dimension["kind"] == "levels":
        return Integer(dimension["name"], (0, dimension["levels"] - 1))
    return Float(dimension["name"], (dimension["low"], dimension["high"]), log=dimension["log"])


class Smac:
    def __init__(self, request):
        space = ConfigurationSpace(seed=request["seed"])
        space.add([hyperparameter(dimension) for dimension in request["space"]])
        self._names = [dimension["name"] for dimension in request["space"]]
        # SMAC writes its history into this folder.
        self._folder = tempfile.TemporaryDirectory(prefix="smac-peer-")
        scenario = Scenario(space, deterministic=True, n_trials=request["trials"], seed=request["seed"],
                            output_directory=self._folder.name)
        self._facade = HyperparameterOptimizationFacade(scenario, lambda config, seed=0: 0.0, overwrite=True,
                                                        logging_level=50)
        self._trial = None

    def ask(self):
        self._trial = self._facade.ask()
        values = dict(self._trial.config)
        return [value.item() if hasattr(value, "item") else value
                for value in (values[name] for name in self._names)]

    def tell(self, values):
        self._facade.tell(self._trial, TrialValue(cost=values[0]))

    def tell_failure(self, worst):
        # With this status, SMAC replaces the cost of a crash by the worst cost so far.
        cost = worst[0] if worst else float("inf")
        self._facade.tell(self._trial, TrialValue(cost=cost, status=StatusType.CRASHED))


def make(request):
    return Smac(request)
