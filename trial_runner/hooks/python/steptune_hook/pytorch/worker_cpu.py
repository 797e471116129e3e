# SPDX-License-Identifier: Apache-2.0
"""Measures the share of their wall time in which a loader's workers use a CPU. Near 0, they wait for storage, a network
or the program."""

import os
from time import perf_counter

_SAMPLE_EVERY_S = 1.0  # /proc counts in hundredths of a second


def cpu_s(pid):
    """Returns the user and system time of all threads of a process. Raises OSError if it has ended or there is no /proc."""
    with open("/proc/%d/stat" % pid, "rb") as file:
        # The name in parentheses may hold spaces.
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class WorkerCpu:
    """Sums over all passes, each from its first batch on, since its workers start before that."""

    def __init__(self):
        self._of = None  # id of the iterator
        self._number = 0  # of the last requested batch
        self._sampled_s = 0.0
        self._before_s = None  # CPU time of its workers at the last look
        self._cpu_s = 0.0
        self._wall_s = 0.0

    def requested(self, iterator):
        """Called for each batch; measures once a second."""
        now_s = perf_counter()
        try:
            number = iterator._rcvd_idx
            is_same = self._of == id(iterator) and number > self._number
            self._number = number
            if is_same and now_s - self._sampled_s < _SAMPLE_EVERY_S:
                return
            self._of = id(iterator) if number > 0 else None
            if self._of is None:
                return
            workers = iterator._workers
            used_s = sum(cpu_s(worker.pid) for worker in workers)
        except (AttributeError, IndexError, OSError, TypeError, ValueError):
            self._of = None  # another PyTorch, or a worker that has ended
            return
        if is_same:
            self._cpu_s += max(0.0, used_s - self._before_s)
            self._wall_s += len(workers) * (now_s - self._sampled_s)
        self._sampled_s, self._before_s = now_s, used_s

    def share(self):
        """Returns the share; None if the workers were not watched for long enough."""
        return self._cpu_s / self._wall_s if self._wall_s > 0 else None
