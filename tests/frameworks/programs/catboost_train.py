# SPDX-License-Identifier: Apache-2.0
"""Argument `all`: CatBoost chooses the number of threads; `metrics`: it computes further metrics."""

import sys
import tempfile

from catboost import CatBoostRegressor

from tables import table

ROUNDS = 12
x, y = table(4000)
with tempfile.TemporaryDirectory() as folder:
    threads = None if "all" in sys.argv else 1
    model = CatBoostRegressor(
        iterations=ROUNDS,
        depth=4,
        random_seed=3,
        thread_count=threads,
        custom_metric=["R2", "MAE", "MAPE", "SMAPE", "MedianAbsoluteError"] if "metrics" in sys.argv else None,
        train_dir=folder,
        verbose=0,
    )
    model.fit(x[:3000], y[:3000], eval_set=(x[3000:], y[3000:]))
print("losses", [float(loss).hex() for loss in model.evals_result_["learn"]["RMSE"]])
print("prediction", float(model.predict(x).sum()).hex())
