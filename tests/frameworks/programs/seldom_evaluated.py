# SPDX-License-Identifier: Apache-2.0
"""Evaluates the training data after every third round only. Argument: the library."""

import sys
import tempfile

from tables import table

ROUNDS, PERIOD = 12, 3
x, y = table(2000)
losses = []
if sys.argv[1] == "xgboost":
    import xgboost

    data = xgboost.DMatrix(x, label=y)
    booster = xgboost.Booster({"max_depth": 4, "nthread": 1}, [data])
    for number in range(ROUNDS):
        booster.update(data, number)
        if number % PERIOD == 0:
            losses.append(float(booster.eval(data, "train").rpartition(":")[2]))
elif sys.argv[1] == "lightgbm":
    import lightgbm

    data = lightgbm.Dataset(x, label=y)
    booster = lightgbm.Booster({"objective": "regression", "metric": "l2", "verbose": -1, "num_threads": 1}, data)
    for number in range(ROUNDS):
        booster.update()
        if number % PERIOD == 0:
            losses.append(booster.eval_train()[0][2])
else:
    from catboost import CatBoostRegressor

    with tempfile.TemporaryDirectory() as folder:
        model = CatBoostRegressor(
            iterations=ROUNDS, depth=4, random_seed=3, thread_count=1, metric_period=PERIOD, train_dir=folder, verbose=0
        )
        model.fit(x, y)
    losses = model.evals_result_["learn"]["RMSE"]
print("losses", [float(loss).hex() for loss in losses])
