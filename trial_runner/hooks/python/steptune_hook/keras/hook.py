# SPDX-License-Identifier: Apache-2.0
"""Hook for programs that train with Keras or TensorFlow."""

import sys

from steptune_hook import call_site, loop_hook
from steptune_hook.keras import MODULES
from steptune_hook.keras.knobs import KerasKnobs


class KerasHook(loop_hook.LoopHook):
    family = "keras"
    titles = {"keras": "Keras", "tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}

    def __init__(self, requested):
        call_site.FRAMEWORKS.update(MODULES)
        super().__init__(requested)
        self.counts = "batch of fit"
        self.optimizers = set()  # names of classes
        self.planned_epochs = None
        # Depth of nested calls such as `fit` and `evaluate`. Inside them, steps of the program's own loop do not count.
        self.apart = 0
        self.pausing = False  # within an evaluation or a checkpoint
        self.fits = None
        self.loops = None
        self.knobs = KerasKnobs(self)

    def backend(self):
        """Returns the framework with which Keras computes; TensorFlow if the program does not use Keras."""
        keras = sys.modules.get("keras")
        return keras.config.backend() if hasattr(keras, "config") else "tensorflow"

    def libraries(self):
        return ("keras", self.backend())

    def device(self):
        if self.backend() == "jax":
            platform = sys.modules["jax"].default_backend()
            return "cuda" if platform == "gpu" else platform
        if self.backend() == "torch":
            return "cuda" if sys.modules["torch"].cuda.is_available() else "cpu"
        return "cuda" if sys.modules["tensorflow"].config.list_physical_devices("GPU") else "cpu"

    def facts(self):
        fields = {"counts": self.counts, "optimizers": sorted(self.optimizers)}
        if self.planned_epochs is not None:
            fields["epochs"] = self.planned_epochs
        return fields

    def counts_here(self):
        return self.apart == 0 and self.may_train()

    def counted(self, samples, loss, steps=1):
        """Called after each step. Calls the function `loss` only if `is_line_due()`, because the call waits for the
        step's result."""
        is_read = loss is not None and self.is_line_due()
        self.step_ended(samples, loss() if is_read else loss, steps)


def enter(module):
    loop_hook.enter(KerasHook, _wrap, module)


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
