# SPDX-License-Identifier: Apache-2.0
"""The knobs: settings of PyTorch and of the process that the hook sets, and their current values. knobs.json lists
them. Those whose `applied` is `live` can also be changed between two steps."""

from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.pytorch.knobs import libraries
from steptune_hook.pytorch.knobs.attention_implementation import AttentionImplementationKnob
from steptune_hook.pytorch.knobs.ddp import DdpKnobs
from steptune_hook.pytorch.knobs.forward import ForwardKnobs
from steptune_hook.pytorch.knobs.interop import InteropThreadsKnob
from steptune_hook.pytorch.knobs.loader import LoaderKnobs
from steptune_hook.pytorch.knobs.optimizer import OptimizerKnobs
from steptune_hook.pytorch.knobs.process import ProcessKnobs
from steptune_hook.pytorch.knobs.recompute import RecomputeKnob
from steptune_hook.pytorch.knobs.strategy import DistributedStrategyKnob
from steptune_hook.pytorch.knobs.trainer_arguments import TrainerArguments


# Settings of the process that change how kernels of forward and backward compute.
_KERNEL_KNOBS = {"num_threads", "cudnn_benchmark", "tf32", "attention"}


class Knobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self._hook = hook
        self.loader = LoaderKnobs(hook, self.requested)
        self.process = ProcessKnobs(self.requested)
        self.interop = InteropThreadsKnob(hook, self.requested)
        self.optimizer = OptimizerKnobs(hook, self.requested)
        self.forward = ForwardKnobs(hook, self.requested)
        self.attention_implementation = AttentionImplementationKnob(hook, self.requested)
        self.recompute = RecomputeKnob(hook, self.requested)
        self.ddp = DdpKnobs(hook, self.requested)
        self.strategy = DistributedStrategyKnob(hook, self.requested)
        self.environment = EnvironmentKnobs(self.table, libraries.why_not)
        self.trainer_arguments = TrainerArguments()
        self.groups = (
            self.loader,
            self.process,
            self.interop,
            self.collector,
            self.optimizer,
            self.forward,
            self.attention_implementation,
            self.recompute,
            self.ddp,
            self.strategy,
            self.environment,
        )

    def switch(self, requested):
        """Sets the requested values between two steps. Resets every other switchable knob to the value that the program
        itself sets. Returns True if the forward's settings or a knob that selects kernels changed."""
        before = self._kernel_knobs_requested()
        self.requested = requested
        switchable = {name: value for name, value in requested.items() if self._may_switch(name)}
        self._hook.live.passes.switch(switchable)
        self.process.switch(switchable)
        self.collector.switch(switchable, self._hook.progress.steps)
        self.optimizer.switch(switchable)
        return self.forward.switch(switchable) or self._kernel_knobs_requested() != before

    def _kernel_knobs_requested(self):
        return {name: value for name, value in self.requested.items() if name in _KERNEL_KNOBS}

    def _may_switch(self, name):
        return any(knob["name"] == name and knob["applied"] == "live" for knob in self.table)

    def name_edit(self, status):
        status.edit = self.trainer_arguments.edit(status.name, status.today)
        if status.edit:
            status.where = []  # lines of the trainer, not of the user
            status.also = self.trainer_arguments.also(status.also)

    def why_not_now(self, knob, status):
        changes = self.requested.get(status.name) not in (None, status.value)
        if self._hook.live is not None and changes and knob["applied"] != "live":
            return "it cannot be changed between two steps"
        return None
