# SPDX-License-Identifier: Apache-2.0
"""Two trainings. The first one evaluates the training data, the second one only other data."""

import sys

from tables import table

ROUNDS = 6
x, y = table(3000)
history = {}
if sys.argv[1] == "xgboost":
    import xgboost

    train, valid = xgboost.DMatrix(x[:2000], label=y[:2000]), xgboost.DMatrix(x[2000:], label=y[2000:])
    for data in (train, valid):
        xgboost.train(
            {"max_depth": 4, "nthread": 1},
            train,
            num_boost_round=ROUNDS,
            evals=[(data, "data")],
            evals_result=history,
            verbose_eval=False,
        )
else:
    import lightgbm

    train = lightgbm.Dataset(x[:2000], label=y[:2000])
    valid = lightgbm.Dataset(x[2000:], label=y[2000:], reference=train)
    for data in (train, valid):
        lightgbm.train(
            {"objective": "regression", "verbose": -1, "num_threads": 1},
            train,
            num_boost_round=ROUNDS,
            valid_sets=[data],
            valid_names=["data"],
            callbacks=[lightgbm.record_evaluation(history)],
        )
(of_metric,) = history["data"].values()
print("losses", [float(loss).hex() for loss in of_metric])
