# SPDX-License-Identifier: Apache-2.0
"""The knobs: settings of a running program that can be changed, and their current values."""

from steptune_pytorch.knobs.collector import CollectorKnob
from steptune_pytorch.knobs.ddp import DdpKnobs
from steptune_pytorch.knobs.environment import EnvironmentKnobs
from steptune_pytorch.knobs.forward import ForwardKnobs
from steptune_pytorch.knobs.interop import InteropKnob
from steptune_pytorch.knobs.knob_status import KnobStatus
from steptune_pytorch.knobs.loader import LoaderKnobs
from steptune_pytorch.knobs.optimizer import OptimizerKnobs
from steptune_pytorch.knobs.process import ProcessKnobs
from steptune_pytorch.knobs.recompute import RecomputeKnob
from steptune_pytorch.knobs.strategy import StrategyKnob
from steptune_pytorch.knobs.table import read_table


_OF_KERNELS = {"num_threads", "cudnn_benchmark", "tf32", "attention"}


class Knobs:
    def __init__(self, hook):
        self.table = read_table()
        self.requested = hook.settings.knobs
        self._is_live = hook.live is not None
        self.loader = LoaderKnobs(hook, self.requested)
        self.process = ProcessKnobs(self.requested)
        self.interop = InteropKnob(hook, self.requested)
        self.collector = CollectorKnob(self.requested)
        self._progress = lambda: hook.progress
        self.optimizer = OptimizerKnobs(hook, self.requested)
        self.forward = ForwardKnobs(hook, self.requested)
        self.recompute = RecomputeKnob(hook, self.requested)
        self.ddp = DdpKnobs(hook, self.requested)
        self.strategy = StrategyKnob(hook, self.requested)
        self.environment = EnvironmentKnobs(self.table)
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
        for group in self._groups:
            if hasattr(group, "wrap"):
                group.wrap()

    def switch(self, requested):
        """Sets these values between two steps, and the program's own values for all other knobs. True if kernels of
        forward and backward change."""
        self.requested = requested
        live = {name: value for name, value in requested.items() if self._may_switch(name)}
        self.loader.switch(live)
        self.process.switch(live)
        self.collector.switch(live, self._progress().steps)
        self.optimizer.switch(live)
        return self.forward.switch(live) or bool(live.keys() & _OF_KERNELS)

    def _may_switch(self, name):
        return any(knob["name"] == name and knob["applied"] == "live" for knob in self.table)

    def statuses(self):
        """Yields the status of each knob of the table, in order; then the unknown names in `requested`."""
        status_by_name = {}
        faults = []
        for group in self._groups:
            try:
                status_by_name.update({status.name: status for status in group.statuses()})
            except Exception as error:  # a fault of one group does not affect the others
                faults.append("%s: %s" % (type(error).__name__, error))
        for knob in self.table:
            status = status_by_name.get(knob["name"]) or KnobStatus(
                knob["name"], why=faults[0] if faults else "does not apply to this program"
            )
            wanted = self.requested.get(status.name)
            changes = wanted not in (None, status.value)
            if self._is_live and status.why is None and changes and knob["applied"] != "live":
                status.why = "it cannot be changed between two steps"
            yield status.finished(self.requested), knob["class"]
        names = {knob["name"] for knob in self.table}
        for name in sorted(set(self.requested) - names):
            yield KnobStatus(name, why="there is no such knob"), "unknown"
