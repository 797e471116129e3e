# SPDX-License-Identifier: Apache-2.0
"""What can be set in a running program, and what the program does today."""

from steptune_pytorch.knobs.ddp import DdpKnobs
from steptune_pytorch.knobs.environment import EnvironmentKnobs
from steptune_pytorch.knobs.forward import ForwardKnobs
from steptune_pytorch.knobs.interop import InteropKnob
from steptune_pytorch.knobs.loader import LoaderKnobs
from steptune_pytorch.knobs.optimizer import OptimizerKnobs
from steptune_pytorch.knobs.process import ProcessKnobs
from steptune_pytorch.knobs.row import Row
from steptune_pytorch.knobs.table import read_table


class Knobs:
    def __init__(self, hook):
        self.table = read_table()
        self.asked = hook.settings.knobs
        self.loader = LoaderKnobs(hook, self.asked)
        self.process = ProcessKnobs(self.asked)
        self.interop = InteropKnob(hook, self.asked)
        self.optimizer = OptimizerKnobs(hook, self.asked)
        self.forward = ForwardKnobs(hook, self.asked)
        self.ddp = DdpKnobs(hook, self.asked)
        self.environment = EnvironmentKnobs(self.table)
        self._groups = (
            self.loader,
            self.process,
            self.interop,
            self.optimizer,
            self.forward,
            self.ddp,
            self.environment,
        )

    def wrap(self):
        for group in (self.interop, self.optimizer, self.ddp, self.forward):
            group.wrap()

    def rows(self):
        """One row for each knob of the table, in its order; unknown names that were asked for last."""
        told = {}
        faults = []
        for group in self._groups:
            try:
                told.update({row.name: row for row in group.rows()})
            except Exception as error:  # these knobs cannot be read here; the others can
                faults.append("%s: %s" % (type(error).__name__, error))
        for knob in self.table:
            row = told.get(knob["name"]) or Row(
                knob["name"], why=faults[0] if faults else "does not apply to this program"
            )
            yield row.finished(self.asked), knob["class"]
        names = {knob["name"] for knob in self.table}
        for name in sorted(set(self.asked) - names):
            yield Row(name, why="there is no such knob"), "unknown"
