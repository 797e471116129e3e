# SPDX-License-Identifier: Apache-2.0
"""Evaluation, checkpoints, ends of epochs: told where they begin and where they ended."""


class Phases:
    def __init__(self, report):
        self._report = report
        self.open = None  # the name of the one that is under way
        self._begin_s = 0.0
        self._last_s = 0.0

    def begin(self, name, at_s):
        self.open = name
        self._begin_s = self._last_s = at_s
        self._report.phase(name, at_s, None)

    def goes_on(self, at_s):
        """Seen to last until now; its end is known only when training goes on."""
        self._last_s = at_s

    def end(self):
        name, self.open = self.open, None
        self._report.phase(name, self._last_s, self._last_s - self._begin_s)

    def ended(self, name, begin_s, end_s):
        """One that was over before it was known to be one."""
        self._report.phase(name, end_s, end_s - begin_s)
