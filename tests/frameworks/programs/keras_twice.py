# SPDX-License-Identifier: Apache-2.0
"""Two trainings: `fit` with a frozen layer, then without. `other`: the second one has other data."""

import sys

import keras
import numpy

keras.utils.set_random_seed(1)
x = numpy.random.RandomState(0).randn(96, 20).astype("float32")
y = x[:, :1] * 2
base = keras.layers.Dense(32, activation="relu", trainable=False)
model = keras.Sequential([base, keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
base.trainable = True
model.compile(optimizer="sgd", loss="mse")
rows = 48 if "other" in sys.argv else 96
history = model.fit(x[:rows], y[:rows], batch_size=16, epochs=2, verbose=0).history
print("losses", [float(loss).hex() for loss in history["loss"]])
