# SPDX-License-Identifier: Apache-2.0
"""Reads the tuner's request: STEPTUNE_PYTHON."""

import os

_VARIABLE = "STEPTUNE_PYTHON"
MODES = ("survey", "report", "apply", "live")


class Settings:
    """The request. Raises ValueError if its text does not follow docs/internals/hooks-protocol.md."""

    def __init__(self, text):
        import json

        document = json.loads(text)
        if not isinstance(document, dict) or document.get("v") != 1:
            raise ValueError("%s is not version 1 of the protocol" % _VARIABLE)
        self.mode = document.get("mode")
        if self.mode not in MODES:
            raise ValueError("mode %r is none of %s" % (self.mode, ", ".join(MODES)))
        self.knobs = dict(document.get("knobs") or {}) if self.mode in ("report", "apply") else {}
        self.channel = document.get("channel")
        if (self.mode == "live") != isinstance(self.channel, str):
            raise ValueError("a channel belongs to mode live, and to no other")
        interval_s = document.get("interval_s")
        quiet = self.mode in ("apply", "live")
        self.prints_steps = not quiet or interval_s is not None
        self.prints_events = not quiet
        self.interval_s = 0.25 if interval_s is None else float(interval_s)
        samples = document.get("samples_per_step")
        self.samples_per_step = None if samples is None else float(samples)
        silence_s = document.get("silence_s")
        self.silence_s = None if silence_s is None else float(silence_s)
        self.events = document.get("events")
        self.replay = document.get("replay_batches") if self.mode == "survey" else None


def read():
    return Settings(os.environ[_VARIABLE])


def reports_arrival():
    """True if `armed` can be reported. Does not parse the document, to save time: most interpreters below a trial's
    command never import a framework."""
    return '"events"' in os.environ[_VARIABLE]
