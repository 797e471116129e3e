# SPDX-License-Identifier: Apache-2.0
"""The knobs: settings of PyTorch and of the process that the hook sets, and their current values. knobs.json lists
them. Those whose `applied` is `live` can also be changed between two steps."""

from steptune_pytorch.knobs.collector import GarbageCollectorKnob
from steptune_pytorch.knobs.ddp import DdpKnobs
from steptune_pytorch.knobs.environment import EnvironmentKnobs
from steptune_pytorch.knobs.forward import ForwardKnobs
from steptune_pytorch.knobs.interop import InteropThreadsKnob
from steptune_pytorch.knobs.knob_status import KnobStatus
from steptune_pytorch.knobs.loader import LoaderKnobs
from steptune_pytorch.knobs.optimizer import OptimizerKnobs
from steptune_pytorch.knobs.process import ProcessKnobs
from steptune_pytorch.knobs.recompute import RecomputeKnob
from steptune_pytorch.knobs.strategy import DistributedStrategyKnob
from steptune_pytorch.knobs.table import read_table
from steptune_pytorch.knobs.trainer_arguments import TrainerArguments


# Settings of the process that change how kernels of forward and backward compute.
_KERNEL_KNOBS = {"num_threads", "cudnn_benchmark", "tf32", "attention"}


class Knobs:
    def __init__(self, hook):
        self.table = read_table()
        self.requested = hook.settings.knobs
        self._is_live_mode = hook.live is not None
        self.loader = LoaderKnobs(hook, self.requested)
        self.process = ProcessKnobs(self.requested)
        self.interop = InteropThreadsKnob(hook, self.requested)
        self.collector = GarbageCollectorKnob(self.requested)
        self._progress = lambda: hook.progress
        self.optimizer = OptimizerKnobs(hook, self.requested)
        self.forward = ForwardKnobs(hook, self.requested)
        self.recompute = RecomputeKnob(hook, self.requested)
        self.ddp = DdpKnobs(hook, self.requested)
        self.strategy = DistributedStrategyKnob(hook, self.requested)
        self.environment = EnvironmentKnobs(self.table)
        self.trainer_arguments = TrainerArguments()
        self._groups = (
            self.loader,
            self.process,
            self.interop,
            self.collector,
            self.optimizer,
            self.forward,
            self.recompute,
            self.ddp,
            self.strategy,
            self.environment,
        )

    def wrap(self):
        """Replaces functions of PyTorch by wrappers that set or watch knobs. Called once, before the program runs."""
        for group in self._groups:
            if hasattr(group, "wrap"):
                group.wrap()

    def switch(self, requested):
        """Sets the requested values between two steps. Resets every other knob that can be switched to the value that
        the program itself sets. Returns True if the forward's settings change, or if a requested knob decides which
        kernels compute."""
        self.requested = requested
        switchable = {name: value for name, value in requested.items() if self._may_switch(name)}
        self.loader.switch(switchable)
        self.process.switch(switchable)
        self.collector.switch(switchable, self._progress().steps)
        self.optimizer.switch(switchable)
        return self.forward.switch(switchable) or bool(switchable.keys() & _KERNEL_KNOBS)

    def _may_switch(self, name):
        return any(knob["name"] == name and knob["applied"] == "live" for knob in self.table)

    def statuses(self):
        """Yields pairs of a `KnobStatus` and the knob's class (`safe`, say): all knobs of the table, in its order, then
        the names in `requested` that are not in the table, with the class `unknown`."""
        status_by_name = {}
        faults = []
        for group in self._groups:
            try:
                status_by_name.update({status.name: status for status in group.statuses()})
            except Exception as error:  # a fault of one group does not affect the others
                faults.append("%s: %s" % (type(error).__name__, error))
        for knob in self.table:
            # The knobs of a group that failed are not known, so each knob without a status names the first fault.
            status = status_by_name.get(knob["name"]) or KnobStatus(
                knob["name"], why=faults[0] if faults else "does not apply to this program"
            )
            wanted = self.requested.get(status.name)
            changes = wanted not in (None, status.value)
            if self._is_live_mode and status.why is None and changes and knob["applied"] != "live":
                status.why = "it cannot be changed between two steps"
            status.edit = self.trainer_arguments.edit(status.name)
            if status.edit:
                status.where = []  # lines of the trainer
                status.also = self.trainer_arguments.also(status.also)
            yield status.checked_against(self.requested), knob["class"]
        names = {knob["name"] for knob in self.table}
        for name in sorted(set(self.requested) - names):
            yield KnobStatus(name, why="there is no such knob"), "unknown"
