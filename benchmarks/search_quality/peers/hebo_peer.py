# SPDX-License-Identifier: Apache-2.0
"""HEBO with its defaults."""
import random

import numpy as np
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO


def parameter(dimension):
    if dimension["kind"] == "categorical":
        return {"name": dimension["name"], "type": "cat", "categories": list(range(dimension["levels"]))}
    if dimension["kind"] == "levels":
        return {"name": dimension["name"], "type": "int", "lb": 0, "ub": dimension["levels"] - 1}
    return {"name": dimension["name"], "type": "pow" if dimension["log"] else "num",
            "lb": dimension["low"], "ub": dimension["high"]}


class Hebo:
    def __init__(self, request):
        torch.set_num_threads(1)
        random.seed(request["seed"])
        np.random.seed(request["seed"])
        torch.manual_seed(request["seed"])
        space = DesignSpace().parse([parameter(dimension) for dimension in request["space"]])
        self._space = request["space"]
        self._optimizer = HEBO(space, scramble_seed=request["seed"])
        self._row = None

    def ask(self):
        self._row = self._optimizer.suggest(n_suggestions=1)
        return [float(self._row[d["name"]].iloc[0]) if d["kind"] == "float" else int(self._row[d["name"]].iloc[0])
                for d in self._space]

    def tell(self, values):
        self._optimizer.observe(self._row, np.array([[values[0]]]))

    def tell_failure(self, worst):
        if worst:
            self.tell(worst)


def make(request):
    return Hebo(request)
