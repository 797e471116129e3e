# SPDX-License-Identifier: Apache-2.0
"""Family of JAX (also Flax and Optax). The step is the compiled function that returns a state like its arguments and
takes most time.

hook       connects the parts
compiled   stand-ins for compiled functions
steps      which function is the step, its samples, its loss, and evaluations
knobs      settings of JAX and XLA
xla_flags  flags that this XLA knows
"""

MODULES = ("jax",)


def install(module):
    from steptune_hook.jax import hook

    hook.enter(module)
