# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of JAX's family."""

import sys
from time import perf_counter

import jax

from steptune_hook import call_site
from steptune_hook import hook as hooks
from steptune_hook import settings
from steptune_hook.jax import MODULES, compiled
from steptune_hook.jax.knobs import JaxKnobs
from steptune_hook.jax.steps import Steps, loss_of
from steptune_hook.loop_hook import FIRST_LOSSES, LoopHook

_LIBRARIES = ("jax", "jaxlib", "flax", "optax")


class JaxHook(LoopHook):
    family = "jax"
    titles = {"jax": "JAX", "flax": "Flax", "optax": "Optax"}

    def __init__(self, requested):
        call_site.FRAMEWORKS.update(MODULES)
        super().__init__(requested)
        self.steps = Steps(self)
        self.knobs = JaxKnobs(self)

    def versions(self):
        used = [name for name in _LIBRARIES if name in sys.modules]
        return {name: str(sys.modules[name].__version__) for name in used}

    def device(self):
        backend = jax.default_backend()
        return "cuda" if backend == "gpu" else backend

    def program(self):
        return {"counts": "call of %s" % self.steps.name, "optimizers": []}

    def counted(self, samples, output, is_waited_for):
        """Called after each step. Waits for it only if a line is due, so that the program may run ahead."""
        is_due = perf_counter() >= self.progress.report.due_s
        is_due = is_due or (self.settings.prints_events and self.progress.steps < FIRST_LOSSES)
        if is_due and not is_waited_for:
            jax.block_until_ready(output)
        self.step_ended(samples, loss_of(output) if is_due else None)
        self.knobs.collector.step_ended(self.progress.steps)

    def waited_for(self, output):
        """Waits for the last step, which is then reported with its end. Returns the time."""
        jax.block_until_ready(output)
        now_s = perf_counter()
        report = self.progress.report
        if report.waiting is not None:
            self.progress.loss = loss_of(output)
            report.waiting = (now_s, report.waiting[1])
        return now_s

    def evaluated(self, began_s):
        self.phase_ended("evaluation", began_s)

    def _end(self):
        self.progress.report.waiting = None  # nobody has waited for the last step
        super()._end()

    def withdrawn(self, why):
        if self.knobs is not None:
            self.knobs.collector.restore()


def enter():
    """Called after the import of JAX."""
    if settings.read().mode == "live":  # nothing here can be switched between two steps
        return
    hooks.install(JaxHook, _wrap)


def _wrap(hook):
    hook.knobs.wrap()
    compiled.wrap(hook, jax, hook.steps)
