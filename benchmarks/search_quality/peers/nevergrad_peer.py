# SPDX-License-Identifier: Apache-2.0
"""Nevergrad with the optimizer that its documentation recommends first, NGOpt."""
import nevergrad as ng


def parameter(dimension):
    if dimension["kind"] == "categorical":
        return ng.p.Choice(list(range(dimension["levels"])))
    if dimension["kind"] == "levels":
        return ng.p.TransitionChoice(list(range(dimension["levels"])))
    if dimension["log"]:
        return ng.p.Log(lower=dimension["low"], upper=dimension["high"])
    return ng.p.Scalar(lower=dimension["low"], upper=dimension["high"])


class Nevergrad:
    def __init__(self, request):
        self._names = [dimension["name"] for dimension in request["space"]]
        space = ng.p.Dict(**{dimension["name"]: parameter(dimension) for dimension in request["space"]})
        space.random_state.seed(request["seed"])
        self._optimizer = ng.optimizers.NGOpt(parametrization=space, budget=request["trials"])
        self._candidate = None

    def ask(self):
        self._candidate = self._optimizer.ask()
        return [self._candidate.value[name] for name in self._names]

    def tell(self, values):
        self._optimizer.tell(self._candidate, values[0])

    def tell_failure(self, worst):
        if worst:
            self.tell(worst)


def make(request):
    return Nevergrad(request)
