# SPDX-License-Identifier: Apache-2.0
"""A step of Optax in one compiled function, and an evaluation after each epoch."""

import sys

import jax
import jax.numpy as jnp
import numpy
import optax

if sys.argv[1:] == ["broken"]:  # the hook's own work raises
    from steptune_hook.loop_hook import LoopProgress

    LoopProgress.step = None
random = numpy.random.RandomState(0)
x = random.randn(320, 64).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2]).astype("float32")
params = {
    "w1": jnp.asarray(random.randn(64, 256) * 0.1, jnp.float32),
    "w2": jnp.asarray(random.randn(256, 1) * 0.1, jnp.float32),
}
optimizer = optax.adam(1e-2)
state = optimizer.init(params)


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"])[:, 0] - y) ** 2 + jnp.mean(
        ((jnp.tanh(x @ params["w1"]) @ params["w2"])[:, 0] - y) ** 2
    )


@jax.jit
def train_step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss


@jax.jit
def evaluate(params, x, y):
    return loss_of(params, x, y)


losses = []
for epoch in range(3):
    for begin in range(0, 320, 32):
        params, state, loss = train_step(params, state, x[begin : begin + 32], y[begin : begin + 32])
        losses.append(loss)
    print("evaluated", float(evaluate(params, x, y)).hex())
print("losses", [float(loss).hex() for loss in losses])
