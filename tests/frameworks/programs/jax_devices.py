# SPDX-License-Identifier: Apache-2.0
"""Two virtual devices: a batch sharded over them, and `pmap`."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

random = numpy.random.RandomState(0)
x = random.randn(240, 40).astype("float32")
w = jnp.asarray(random.randn(40, 30), jnp.float32)


def step(w, x):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * gradient, loss


losses = []
if sys.argv[1] == "pmap":
    compiled = jax.pmap(step)
    w = jnp.stack([w, w])
    for begin in range(0, 240, 24):
        w, loss = compiled(w, x[begin : begin + 24].reshape(2, 12, 40))
        losses.append(float(loss[0]).hex())
else:
    mesh = Mesh(jax.devices(), ("data",))
    compiled = jax.jit(step)
    for begin in range(0, 240, 24):
        batch = jax.device_put(x[begin : begin + 24], NamedSharding(mesh, PartitionSpec("data")))
        w, loss = compiled(w, batch)
        losses.append(float(loss).hex())
print("losses", losses)
