# SPDX-License-Identifier: Apache-2.0
"""Ax with the defaults of its client."""
import logging

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig


def parameter(dimension):
    name = dimension["name"]
    if dimension["kind"] == "categorical":
        return ChoiceParameterConfig(name=name, values=list(range(dimension["levels"])), parameter_type="int",
                                     is_ordered=False)
    if dimension["kind"] == "levels":
        return RangeParameterConfig(name=name, bounds=(0, dimension["levels"] - 1), parameter_type="int")
    return RangeParameterConfig(name=name, bounds=(dimension["low"], dimension["high"]), parameter_type="float",
                                scaling="log" if dimension["log"] else "linear")


class Ax:
    def __init__(self, request):
        torch.set_num_threads(1)
        logging.disable(logging.WARNING)
        self._names = [dimension["name"] for dimension in request["space"]]
        self._client = Client(random_seed=request["seed"])
        self._client.configure_experiment(parameters=[parameter(dimension) for dimension in request["space"]])
        self._client.configure_optimization(objective="-f")
        self._client.configure_generation_strategy(method="balanced", initialization_random_seed=request["seed"])
        self._trial = None

    def ask(self):
        ((self._trial, values),) = self._client.get_next_trials(max_trials=1).items()
        return [values[name] for name in self._names]

    def tell(self, values):
        self._client.complete_trial(self._trial, raw_data={"f": values[0]})

    def tell_failure(self, worst):
        if worst:
            self.tell(worst)
        else:
            self._client.mark_trial_failed(self._trial)


def make(request):
    return Ax(request)
