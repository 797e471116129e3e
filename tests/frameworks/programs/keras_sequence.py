# SPDX-License-Identifier: Apache-2.0
"""`fit` on a PyDataset. Arguments: `random`: it draws numbers; `callback`: a callback acts on each batch; `part`: an epoch
is a part of the data; `slow`: prints if the batches of two more trainings are loaded at the same time."""

import sys
import threading
import time

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


class Slow(Batches):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()
        self.loading = self.most = 0

    def __getitem__(self, index):
        with self.lock:
            self.loading += 1
            self.most = max(self.most, self.loading)
        time.sleep(0.02)
        with self.lock:
            self.loading -= 1
        return super().__getitem__(index)


class Rate(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = 1e-3 / (batch + 1)


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
callbacks = [Rate()] if "callback" in sys.argv else []
steps = 3 if "part" in sys.argv else None
fitted = model.fit(Batches(), epochs=2, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=callbacks)
history = fitted.history
print("losses", [float(loss).hex() for loss in history["loss"]])
if "slow" in sys.argv:
    data = [Slow(), Slow()]
    for one in data:
        model.fit(one, shuffle=False, verbose=0)
    print("at the same time", [one.most > 1 for one in data])
