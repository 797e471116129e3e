# SPDX-License-Identifier: Apache-2.0
"""Knobs that are settings of the whole process, which functions of a framework return and set."""

from steptune_hook.events import first_line
from steptune_hook.knobs.knob_status import KnobStatus


class Setting:
    """`get()` returns the value, `put(value)` sets it. If `why_not()` returns a reason, neither is called."""

    def __init__(self, get, put, why_not=lambda: None):
        self.get = get
        self.put = put
        self.why_not = why_not


class ProcessSettings:
    """A group of knobs. Values that the program sets later win. `settings`: a `Setting` for each knob, by name."""

    def __init__(self, requested, settings):
        self._settings = settings
        self._requested = {name: requested[name] for name in settings if name in requested}
        self._today = {}  # the program's own values of the knobs that were set
        self._refused = {}

    def settle(self):
        for name in self._requested:
            self._set(name)

    def switch(self, requested):
        """Sets the newly requested values. Resets all other knobs to the program's own values."""
        before = self._requested
        self._requested = {name: requested[name] for name in self._settings if name in requested}
        for name in {**before, **self._requested}:
            self._set(name)

    def _set(self, name):
        setting = self._settings[name]
        self._refused.pop(name, None)
        try:
            why = setting.why_not()
            if why is None:
                now = setting.get()
                value = self._requested.get(name, self._today.setdefault(name, now))
                if value != now:
                    setting.put(value)
        except Exception as error:
            why = first_line(error)
        if why is not None:
            self._refused[name] = why

    def why_useless(self, name):
        """Returns why an existing setting cannot help in this program; None if it may help."""

    def choices(self, name, today):
        """Returns the values worth trying; None for those of the table."""

    def statuses(self):
        for name, setting in self._settings.items():
            why_unknown = setting.why_not()
            why = self._refused.get(name) or why_unknown or self.why_useless(name)
            now = setting.get() if why_unknown is None or name in self._today else None
            today = self._today.get(name, now)
            choices = None if now is None else self.choices(name, today)
            yield KnobStatus(name, today=today, value=now, why=why, choices=choices)
