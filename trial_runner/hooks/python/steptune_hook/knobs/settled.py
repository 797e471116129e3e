# SPDX-License-Identifier: Apache-2.0
"""Knobs whose current values are known only when the program trains."""

from steptune_hook.knobs.knob_status import KnobStatus


class SettledKnobs:
    """States of such knobs. Reports the values of the first training whose knobs may be changed."""

    def __init__(self, requested):
        self._requested = requested
        self._statuses = {}

    def settle(self, name, today, why=None):
        """Called when a training begins, with the program's own value of a knob, and why it cannot be changed. Returns
        the value to set; None if the program's stays."""
        wanted = self._requested.get(name)
        is_set = why is None and wanted is not None and wanted != today
        self.note(KnobStatus(name, today=today, value=wanted if is_set else today, why=why))
        return wanted if is_set else None

    def note(self, status):
        known = self._statuses.get(status.name)
        if known is None or (known.why is not None and status.why is None):
            self._statuses[status.name] = status

    def refuse(self, names, why):
        """Records that a training's knobs cannot be changed. Has no effect if another training's knobs can be."""
        for name in names:
            self.note(KnobStatus(name, why=why))

    def is_empty(self):
        return not self._statuses

    def statuses(self, otherwise=()):
        """Yields the status of each knob. `otherwise`: pairs of a knob and the reason to give if no training has
        settled it."""
        unsettled = [KnobStatus(name, why=why) for name, why in otherwise if name not in self._statuses]
        for status in (*self._statuses.values(), *unsettled):
            # The caller may change `why`.
            yield KnobStatus(status.name, status.today, status.value, status.why)
