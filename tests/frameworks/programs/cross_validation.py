# SPDX-License-Identifier: Apache-2.0
"""Folds that train in turn, a round each."""

import sys

from tables import table

ROUNDS, FOLDS = 6, 3
x, y = table(3000)
if sys.argv[1] == "xgboost":
    import xgboost

    result = xgboost.cv(
        {"max_depth": 4, "nthread": 1}, xgboost.DMatrix(x, label=y), num_boost_round=ROUNDS, nfold=FOLDS, as_pandas=False
    )
else:
    import lightgbm

    parameters = {"objective": "regression", "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(x, label=y)
    result = lightgbm.cv(parameters, data, num_boost_round=ROUNDS, nfold=FOLDS, stratified=False)
print("means", {name: [float(value).hex() for value in values] for name, values in result.items()})
