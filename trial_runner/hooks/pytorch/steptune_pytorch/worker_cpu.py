# SPDX-License-Identifier: Apache-2.0
"""CPU time of a loader's workers over their wall time: near 0, they wait for storage, a network or the program."""

import os
from time import perf_counter

_LOOK_EVERY_S = 1.0  # /proc counts in hundredths of a second


def cpu_s(pid):
    """User and system time of all threads of a process; OSError where it has ended or there is no /proc."""
    with open("/proc/%d/stat" % pid, "rb") as file:
        # The name in parentheses may hold spaces.
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class WorkerCpu:
    """Of all passes, each from its first batch on: before, its workers start."""

    def __init__(self):
        self._of = None  # which iterator, by its identity
        self._number = 0  # of the batch that was asked for last
        self._looked_s = 0.0
        self._before_s = None  # CPU time of its workers then
        self._cpu_s = 0.0
        self._wall_s = 0.0

    def asked(self, iterator):
        """Called for each batch; looks once a second."""
        now_s = perf_counter()
        try:
            number = iterator._rcvd_idx
            is_same = self._of == id(iterator) and number > self._number
            self._number = number
            if is_same and now_s - self._looked_s < _LOOK_EVERY_S:
                return
            self._of = id(iterator) if number > 0 else None
            if self._of is None:
                return
            workers = iterator._workers
            used_s = sum(cpu_s(worker.pid) for worker in workers)
        except (AttributeError, IndexError, OSError, TypeError, ValueError):
            self._of = None  # another PyTorch; a worker that has ended
            return
        if is_same:
            self._cpu_s += max(0.0, used_s - self._before_s)
            self._wall_s += len(workers) * (now_s - self._looked_s)
        self._looked_s, self._before_s = now_s, used_s

    def share(self):
        """None where it was not seen for long enough."""
        return self._cpu_s / self._wall_s if self._wall_s > 0 else None
