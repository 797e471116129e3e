# SPDX-License-Identifier: Apache-2.0
"""Two compiled methods in turn, which take over the memory of the state, and an evaluation after each epoch. Argument
`clips`: the cheaper method is called twice as often, on half a batch."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy

random = numpy.random.RandomState(0)
x = random.randn(160, 64).astype("float32")


class Trainer:
    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def train_step(self, w, x):
        def loss_of(w):
            return jnp.mean(jax.lax.fori_loop(0, 600, lambda _, h: jnp.tanh(h @ w), x) ** 2)

        return w + 0.001 * w, loss_of(w)

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def clip(self, w, x):
        return jnp.clip(w, -1, 1), jnp.mean(x)

    @functools.partial(jax.jit, static_argnums=0)
    def evaluate(self, w, x):
        return jnp.mean((x @ w) ** 2)


trainer = Trainer()
w = jnp.asarray(random.randn(64, 64) * 0.1, jnp.float32)
losses = []
for epoch in range(3):
    for begin in range(0, 160, 16):
        batch = x[begin : begin + 16]
        w, loss = trainer.train_step(w, batch)
        for part in (batch[:8], batch[8:]) if "clips" in sys.argv else (batch,):
            w, _ = trainer.clip(w, part)
        losses.append(float(loss).hex())
    print("evaluated", float(trainer.evaluate(w, x)).hex())
print("losses", losses)
print("method", trainer.clip == trainer.clip, trainer.clip.lower(trainer, w, x[:16]).compile() is not None)
