# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of JAX's family."""

from time import perf_counter

import jax

from steptune_hook import call_site, loop_hook
from steptune_hook.jax import MODULES, compiled
from steptune_hook.jax.knobs import JaxKnobs
from steptune_hook.jax.steps import Steps, is_deleted, loss_of


class JaxHook(loop_hook.LoopHook):
    family = "jax"
    titles = {"jax": "JAX", "flax": "Flax", "optax": "Optax"}

    def __init__(self, requested):
        call_site.FRAMEWORKS.update(MODULES)
        super().__init__(requested)
        self.steps = Steps(self)
        self.knobs = JaxKnobs(self)

    def libraries(self):
        return ("jax", "jaxlib", "flax", "optax")

    def device(self):
        backend = jax.default_backend()
        return "cuda" if backend == "gpu" else backend

    def facts(self):
        return {"counts": "call of %s" % self.steps.name, "optimizers": []}

    def counted(self, samples, output, is_waited_for):
        """Called after each step."""
        is_due = self.is_line_due()
        if is_due and not is_waited_for:
            jax.block_until_ready(output)
        self.step_ended(samples, loss_of(output) if is_due else None)

    def waited_for(self, output):
        """Waits for the last step, so that its report gets the time of its end. Returns the time."""
        leaves = jax.tree_util.tree_leaves(output)
        kept = [leaf for leaf in leaves if not is_deleted(leaf)]
        jax.block_until_ready(kept)
        now_s = perf_counter()
        report = self.progress.report
        # If other functions have taken the memory of all outputs, nothing shows when the step ended.
        shows_end = kept or not leaves
        if report.waiting is not None and shows_end:
            self.progress.loss = loss_of(output)
            report.waiting = (now_s, report.waiting[1])
        return now_s

    def _end(self):
        self.progress.report.waiting = None  # nobody has waited for its end
        super()._end()


def enter(module):
    loop_hook.enter(JaxHook, lambda hook, module: compiled.wrap(hook, module, hook.steps), module)
