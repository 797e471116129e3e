# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of the family of Keras and TensorFlow."""

import sys
from time import perf_counter

from steptune_hook import call_site
from steptune_hook import hook as hooks
from steptune_hook import settings
from steptune_hook.keras import MODULES
from steptune_hook.keras.knobs import KerasKnobs
from steptune_hook.loop_hook import FIRST_LOSSES, LoopHook

_LIBRARIES = ("keras", "tensorflow", "jax", "torch")


class KerasHook(LoopHook):
    family = "keras"
    titles = {"keras": "Keras", "tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}

    def __init__(self, requested):
        call_site.FRAMEWORKS.update(MODULES)
        super().__init__(requested)
        self.counts = "batch of fit"
        self.optimizers = set()  # names of classes
        self.planned_epochs = None
        self.apart = 0  # depth of calls in which no loop of the program's own is counted, such as `fit` and `evaluate`
        self.pausing = False  # within an evaluation or a checkpoint
        self.fits = None
        self.loops = None
        self.knobs = KerasKnobs(self)

    def backend(self):
        """Returns the framework with which Keras computes; TensorFlow if the program does not use Keras."""
        keras = sys.modules.get("keras")
        return keras.config.backend() if hasattr(keras, "config") else "tensorflow"

    def versions(self):
        names = [name for name in _LIBRARIES if name == "keras" or name == self.backend()]
        return {name: str(sys.modules[name].__version__) for name in names if name in sys.modules}

    def device(self):
        if self.backend() == "jax":
            platform = sys.modules["jax"].default_backend()
            return "cuda" if platform == "gpu" else platform
        if self.backend() == "torch":
            return "cuda" if sys.modules["torch"].cuda.is_available() else "cpu"
        return "cuda" if sys.modules["tensorflow"].config.list_physical_devices("GPU") else "cpu"

    def program(self):
        fields = {"counts": self.counts, "optimizers": sorted(self.optimizers)}
        if self.planned_epochs is not None:
            fields["epochs"] = self.planned_epochs
        return fields

    def counts_here(self):
        return self.apart == 0 and self.may_train()

    def counted(self, samples, loss, steps=1):
        """Called after each step. Waits for its loss only if a line is due, so that the program may run ahead."""
        is_due = perf_counter() >= self.progress.report.due_s
        is_due = is_due or (self.settings.prints_events and self.progress.steps < FIRST_LOSSES)
        value = loss() if is_due and loss is not None else None
        self.step_ended(samples, value if is_due else loss, steps)
        self.knobs.collector.step_ended(self.progress.steps)

    def withdrawn(self, why):
        if self.knobs is not None:
            self.knobs.collector.restore()


_installed = []


def enter(module):
    """Called after each import of a module of the family."""
    if not _installed:
        if settings.read().mode == "live":  # nothing here can be switched between two steps
            return
        _installed.append(hooks.install(KerasHook, lambda hook: None))
    hook = _installed[0]
    if hook is not None and hook.active:
        hook.guarded(_wrap, hook, sys.modules[module])


def _wrap(hook, module):
    from steptune_hook.keras import fits, loops, pauses

    if module.__name__ == "tensorflow":
        if int(module.__version__.split(".")[0]) < 2:
            raise RuntimeError("TensorFlow 1 is not known")
        hook.knobs.tensorflow_imported(module)
        loops.wrap_functions(hook, module)
        pauses.wrap_checkpoints(hook, module)
        return
    if int(module.__version__.split(".")[0]) < 3:
        raise RuntimeError("Keras before version 3 is not known")
    hook.knobs.keras_imported(module)
    fits.wrap(hook, module)
    pauses.wrap_models(hook, module)
    if hook.backend() == "tensorflow":
        loops.wrap_optimizers(hook, module)
