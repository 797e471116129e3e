# SPDX-License-Identifier: Apache-2.0
"""`fit` on a PyDataset. Arguments: `random`: it draws numbers; `callback`: a callback acts on each batch."""

import sys

import keras
import numpy


class Batches(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()
        random = numpy.random.RandomState(0)
        self.x = random.randn(100, 20).astype("float32")
        self.y = (self.x[:, 0] * self.x[:, 1] + self.x[:, 2]).astype("float32")

    def __len__(self):
        return 7

    def __getitem__(self, index):
        rows = slice(16 * index, 16 * index + 16)
        noise = numpy.random.randn() * 0.01 if "random" in sys.argv else 0.0
        return self.x[rows] + numpy.float32(noise), self.y[rows]


class Rate(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = 1e-3 / (batch + 1)


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
callbacks = [Rate()] if "callback" in sys.argv else []
history = model.fit(Batches(), epochs=2, shuffle=False, verbose=0, callbacks=callbacks).history
print("losses", [float(loss).hex() for loss in history["loss"]])
