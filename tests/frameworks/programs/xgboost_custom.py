# SPDX-License-Identifier: Apache-2.0
"""The program's own training loop, with its own objective."""

import numpy
import xgboost

from tables import table

x, y = table(2000)
train = xgboost.DMatrix(x, label=y)
booster = xgboost.Booster({"max_depth": 4, "base_score": 0.0, "eval_metric": "mape"}, [train])
booster.set_param(iter([("eta", 0.5)]))


def objective(prediction, data):
    return prediction - data.get_label(), numpy.ones_like(prediction)


losses = []
for iteration in range(6):
    booster.update(train, iteration, fobj=objective)
    losses.append(float(booster.eval_set([(train, "train")], iteration).rpartition(":")[2]))
print("losses", [loss.hex() for loss in losses])
print("prediction", float(booster.predict(train).astype("float64").sum()).hex())
