# SPDX-License-Identifier: Apache-2.0
"""Prints the step and phase lines of docs/reporting.md: the first step, the last, and a few per second between."""

import math
import os
import sys
from time import perf_counter

from steptune_hook import ranks
from steptune_hook.events import write_line


class Report:
    def __init__(self, settings, printer):
        self._settings = settings
        self._printer = printer
        self._origin_s = perf_counter()
        self._pid = os.getpid()
        self._silent = not settings.prints_steps
        self.due_s = math.inf if self._silent else -math.inf
        self._first = True
        self.waiting = None  # arguments of `step` for the last step, if it was not printed

    def step(self, at_s, make_document):
        """Records a step that ended at `at_s`. `make_document()` returns the step's counters. It is called, and tensors
        are read, only for steps that are printed."""
        if self._silent:
            return
        self.waiting = (at_s, make_document)
        if at_s >= self.due_s:
            first, self._first = self._first, False
            if first and program_reports() is None:
                return  # the program may also report this step itself, so decide at the next step
            self.due_s = at_s + self._settings.interval_s
            self.flush()

    def phase(self, name, at_s, seconds):
        if self._silent:
            return
        self.flush()
        document = {"v": 1, "phase": name, "clock": round(at_s - self._origin_s, 6)}
        if seconds is not None:
            document["seconds"] = round(max(0.0, seconds), 6)
        self._write(document)

    def flush(self):
        waiting, self.waiting = self.waiting, None
        if waiting is None or self._silent or self._pid != os.getpid():
            return
        at_s, make_document = waiting
        document = {"v": 1, "clock": round(at_s - self._origin_s, 6)}
        not_finite = []
        for name, value in make_document().items():
            if isinstance(value, float) and not math.isfinite(value):
                not_finite.append(name)
            else:
                document[name] = value
        if not_finite:
            document["not_finite"] = not_finite
        self._write(document)

    def stop(self):
        self._silent = True
        self.due_s = math.inf

    def _write(self, document):
        if self._pid != os.getpid() or program_reports():
            return
        rank = ranks.reported_rank()
        if rank is not None:
            document["global_rank"] = rank
        elif not self._printer.may_print():
            return
        try:
            write_line(document)
        except OSError:  # nobody reads the output any more
            self.stop()


def program_reports():
    """Returns True if the program reports its own steps by the package steptune. A second counter would contradict it.
    Returns None if the program has only used the package for something else so far."""
    reports_steps = getattr(sys.modules.get("steptune"), "_reports_steps", None)
    return reports_steps() if reports_steps is not None else False
