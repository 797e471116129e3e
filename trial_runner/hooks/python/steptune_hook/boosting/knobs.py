# SPDX-License-Identifier: Apache-2.0
"""Settings of the libraries. Each library asks for the requested values when a training begins, and says which values
the program uses by itself."""

import os

from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.knob_status import KnobStatus


class BoostingKnobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self.training = TrainingKnobs(self.requested)
        self.groups = (self.training, EnvironmentKnobs(self.table, lambda name: None))


class TrainingKnobs:
    """Parameters of the trainings."""

    def __init__(self, requested):
        self._requested = requested
        self._statuses = {}

    def settle(self, name, today, why=None):
        """Called when a training begins, with the program's own value of a knob, and why it cannot be changed. Returns
        the value to set; None if the program's stays. The first training that may be changed decides what is
        reported."""
        wanted = self._requested.get(name)
        is_set = why is None and wanted is not None and wanted != today
        known = self._statuses.get(name)
        if known is None or (known.why is not None and why is None):
            self._statuses[name] = KnobStatus(name, today=today, value=wanted if is_set else today, why=why)
        return wanted if is_set else None

    def refuse(self, name, why):
        """Records that a training cannot be changed, unless another one can."""
        self._statuses.setdefault(name, KnobStatus(name, why=why))

    def statuses(self):
        for status in self._statuses.values():
            yield KnobStatus(status.name, status.today, status.value, status.why)


def usable_cpus():
    """Returns the number of threads that OpenMP uses by itself."""
    cpus = len(os.sched_getaffinity(0))
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cpus, int(first)) if first.isdigit() and int(first) > 0 else cpus
