# SPDX-License-Identifier: Apache-2.0
"""Flax's older interface with a TrainState, donated arguments, and an update in a second compiled function."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy
import optax
from flax.training import train_state


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.relu(nn.Dense(128)(x)))


random = numpy.random.RandomState(0)
x = random.randn(160, 32).astype("float32")
y = random.randint(0, 10, 160)
model = Model()
params = model.init(jax.random.key(0), x[:1])["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def gradients_of(state, x, y):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    return jax.value_and_grad(loss_of)(state.params)


@functools.partial(jax.jit, donate_argnums=0)
def update(state, gradients):
    return state.apply_gradients(grads=gradients)


losses = []
for begin in range(0, 160, 16):
    loss, gradients = gradients_of(state, x[begin : begin + 16], y[begin : begin + 16])
    state = update(state, gradients)
    losses.append(float(loss).hex())
print("losses", losses)
