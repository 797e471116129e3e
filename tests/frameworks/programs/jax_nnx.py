# SPDX-License-Identifier: Apache-2.0
"""Flax NNX."""

import jax.numpy as jnp
import numpy
import optax
from flax import nnx

random = numpy.random.RandomState(0)
x = random.randn(120, 16).astype("float32")
y = x[:, :1] * 2
model = nnx.Sequential(nnx.Linear(16, 64, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(64, 1, rngs=nnx.Rngs(1)))
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, gradients)
    return loss


losses = []
for begin in range(0, 120, 12):
    losses.append(float(train_step(model, optimizer, x[begin : begin + 12], y[begin : begin + 12])).hex())
print("losses", losses)
