# SPDX-License-Identifier: Apache-2.0
"""`fit` on a `tf.data.Dataset` that a function maps, with dropout: argument `random`: the function draws numbers,
`synchronous`: its calls are synchronous, `parallel`: they are parallel, `pool`: a thread for each CPU computes only the
data set."""

import sys

import keras
import numpy
import tensorflow as tf

keras.utils.set_random_seed(1)
random = numpy.random.RandomState(0)
x = random.randn(100, 20).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2]).astype("float32")


def prepare(x, y):
    if "random" in sys.argv:
        x += tf.random.normal(tf.shape(x)) * 0.01
    return tf.sin(x), y


# No number of parallel calls, no word on the order, and synchronous.
calls = (None, None, True) if "synchronous" in sys.argv else (tf.data.AUTOTUNE,) if "parallel" in sys.argv else ()
mapped = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100, seed=3).map(prepare, *calls)
data = mapped.batch(16)
if "parallel" in sys.argv:
    print("maps by", type(mapped).__name__)
if "pool" in sys.argv:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 0
    data = data.with_options(options)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dropout(0.1), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(data, epochs=3, verbose=0).history
print("losses", [float(loss).hex() for loss in history["loss"]])
