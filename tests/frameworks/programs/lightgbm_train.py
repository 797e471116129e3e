# SPDX-License-Identifier: Apache-2.0
"""Argument `all`: OpenMP chooses the number of threads."""

import sys

import lightgbm

from tables import table

ROUNDS = 12
x, y = table(4000)
train = lightgbm.Dataset(x[:3000], label=y[:3000])
valid = lightgbm.Dataset(x[3000:], label=y[3000:], reference=train)
history = {}
booster = lightgbm.train(
    {
        "objective": "regression",
        "num_leaves": 15,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "verbose": -1,
        "seed": 3,
        "num_threads": None if "all" in sys.argv else 1,
        "device_type": None,  # as from an option that was not given
    },
    train,
    num_boost_round=ROUNDS,
    valid_sets=[valid, train],
    valid_names=["valid", "train"],
    callbacks=[lightgbm.record_evaluation(history)],
)
print("losses", [float(loss).hex() for loss in history["train"]["l2"]])
print("prediction", float(booster.predict(x).sum()).hex())
