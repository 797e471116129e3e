# SPDX-License-Identifier: Apache-2.0
"""Measures how much of a program's time Python's garbage collector and the kernel take."""

import gc
import os
from time import monotonic


class HostWatch:
    """Counts from the first step on. A collection stops all Python threads, so collections in every thread count."""

    def __init__(self):
        self._collecting_s = 0.0
        self._collection_began_s = None
        self._began_s = None
        self._began_cpu = None
        gc.callbacks.append(self._called)

    def _called(self, phase, _info):
        now_s = monotonic()
        if phase == "start":
            self._collection_began_s = now_s
        elif self._collection_began_s is not None:
            self._collecting_s += now_s - self._collection_began_s
            self._collection_began_s = None

    def first_step_ended(self):
        self._collecting_s = 0.0
        self._began_s = monotonic()
        self._began_cpu = os.times()

    def metrics(self):
        if self._began_s is None:
            return {}
        metrics = {}
        whole_s = monotonic() - self._began_s
        if whole_s > 0.0:
            metrics["gc_share"] = round(self._collecting_s / whole_s, 6)
        cpu = os.times()
        system_s = cpu.system - self._began_cpu.system
        cpu_s = cpu.user - self._began_cpu.user + system_s
        if cpu_s > 0.0:
            metrics["kernel_share"] = round(system_s / cpu_s, 6)
        return metrics

    def end(self):
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)
