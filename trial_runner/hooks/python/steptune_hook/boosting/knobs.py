# SPDX-License-Identifier: Apache-2.0
"""Settings of the libraries. Each library asks for the requested values when a training begins, and says which values
the program uses by itself."""

import os

from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.settled import SettledKnobs


class BoostingKnobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self.training = SettledKnobs(self.requested)  # parameters of the trainings
        self.groups = (self.training, EnvironmentKnobs(self.table))


def usable_cpus():
    return len(os.sched_getaffinity(0))


def openmp_threads():
    """Returns the number of threads that OpenMP uses by itself."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else usable_cpus()
