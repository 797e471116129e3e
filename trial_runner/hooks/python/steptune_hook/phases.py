# SPDX-License-Identifier: Apache-2.0
"""Evaluation, checkpoints and ends of epochs: reports their start and end."""


class Phases:
    def __init__(self, report):
        self._report = report
        self.open = None  # name of the current phase
        self._begin_s = 0.0
        self._last_s = 0.0

    def begin(self, name, at_s):
        self.open = name
        self._begin_s = self._last_s = at_s
        self._report.phase(name, at_s, None)

    def extend(self, at_s):
        """Extends the current phase to `at_s`. Its true end is known only when training continues."""
        self._last_s = at_s

    def end(self):
        name, self.open = self.open, None
        self._report.phase(name, self._last_s, self._last_s - self._begin_s)

    def ended(self, name, begin_s, end_s):
        """Reports a phase that was over before it was recognised."""
        self._report.phase(name, end_s, end_s - begin_s)
