# SPDX-License-Identifier: Apache-2.0
"""The program's own training loop with a `GradientTape`. Argument `eager`: without `tf.function`. Otherwise with it, and
with an evaluation after each epoch."""

import sys

import keras
import numpy
import tensorflow as tf

keras.utils.set_random_seed(1)
random = numpy.random.RandomState(0)
x = random.randn(100, 20).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2]).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)


def loss_of(x, y):
    return tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


evaluate = tf.function(loss_of)
if "eager" not in sys.argv:
    train_step = tf.function(train_step)
losses = []
for epoch in range(3):
    for inputs, targets in data:
        losses.append(float(train_step(inputs, targets)).hex())
    if "eager" not in sys.argv:
        print("evaluated", float(evaluate(x[:30], y[:30])).hex())
print("losses", losses)
