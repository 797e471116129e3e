# SPDX-License-Identifier: Apache-2.0
import sys

import xgboost

from tables import table

if sys.argv[1:] == ["broken"]:  # the hook's own work raises
    from steptune_hook.loop_hook import LoopProgress

    LoopProgress.step = None
ROUNDS = 12
x, y = table(4000)
train, valid = xgboost.DMatrix(x[:3000], label=y[:3000]), xgboost.DMatrix(x[3000:], label=y[3000:])
history = {}
booster = xgboost.train(
    {"objective": "reg:squarederror", "max_depth": 5, "subsample": 0.8, "seed": 3, "nthread": 1},
    train,
    num_boost_round=ROUNDS,
    evals=[(valid, "valid"), (train, "train")],
    evals_result=history,
    verbose_eval=False,
)
print("losses", [float(loss).hex() for loss in history["train"]["rmse"]])
print("prediction", float(booster.predict(valid).astype("float64").sum()).hex())
