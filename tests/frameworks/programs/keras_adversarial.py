# SPDX-License-Identifier: Apache-2.0
"""Two models that are trained in turn. Argument `batches`: by `train_on_batch`. Otherwise by a `train_step` that a model
defines, in which two optimizers step once each."""

import sys

import keras
import numpy
import tensorflow as tf

keras.utils.set_random_seed(1)
x = numpy.random.RandomState(0).randn(96, 8).astype("float32")
critic = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)])


class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.critic, self.maker = critic, maker

    def compile(self):
        super().compile()
        self.critic_optimizer, self.maker_optimizer = keras.optimizers.Adam(), keras.optimizers.Adam()

    def train_step(self, real):
        noise = tf.ones((tf.shape(real)[0], 4))
        with tf.GradientTape() as tape:
            critic_loss = tf.reduce_mean(self.critic(self.maker(noise)) - self.critic(real))
        gradients = tape.gradient(critic_loss, self.critic.trainable_variables)
        self.critic_optimizer.apply(gradients, self.critic.trainable_variables)
        with tf.GradientTape() as tape:
            maker_loss = tf.reduce_mean(-self.critic(self.maker(noise)))
        gradients = tape.gradient(maker_loss, self.maker.trainable_variables)
        self.maker_optimizer.apply(gradients, self.maker.trainable_variables)
        return {"critic_loss": critic_loss, "maker_loss": maker_loss}


if "batches" in sys.argv:
    critic.compile("adam", "mse")
    both = keras.Sequential([maker, critic])
    both.compile("adam", "mse")
    losses = []
    for begin in range(0, 96, 24):
        losses.append(float(critic.train_on_batch(x[begin : begin + 24], numpy.zeros((24, 1)))).hex())
        both.train_on_batch(numpy.ones((24, 4), "float32"), numpy.ones((24, 1)))
else:
    pair = Pair()
    pair.compile()
    history = pair.fit(tf.data.Dataset.from_tensor_slices(x).batch(24), epochs=2, verbose=0).history
    losses = [float(loss).hex() for loss in history["critic_loss"]]
print("losses", losses)
