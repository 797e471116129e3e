# SPDX-License-Identifier: Apache-2.0
"""Two models that are trained one after the other, each in a loop with its own optimizer."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
losses, optimizers = [], []
for steps in (8, 6):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.1)
    optimizers.append(optimizer)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.ones((5, 4))) ** 2)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        losses.append(float(loss).hex())
print("losses", losses)
