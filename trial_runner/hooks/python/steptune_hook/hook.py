# SPDX-License-Identifier: Apache-2.0
"""Base of the hooks of all families: reads the request, and makes patches and events. Removes all of them on a fault.
"""

import contextlib
import os
import platform
import sys

from steptune_hook import ranks, report, settings
from steptune_hook.events import Events
from steptune_hook.patches import Patches
from steptune_hook.ranks import Printer

FIRST_LOSSES = 8
SURVEYS_AT = (1, 3, 10, 100, 1000)  # numbers of steps; a repeated survey reports only changes

_entered = []  # the hooks of this process
# The hook that has withdrawn all other hooks, because its framework computes with their frameworks
_trains_alone = None


class Hook:
    """Base of the hook of a family. A subclass sets `knobs`, and `progress` with a `report`. It overrides `device()`,
    `versions()` and `program()`, which return facts for the events `patched` and `program`."""

    family = ""

    def __init__(self, requested, send_to_tuner=None):
        self.active = True
        self.settings = requested
        self.printer = Printer()
        self.patches = Patches()
        self.events = Events(requested, self.printer, send_to_tuner)
        self.progress = None
        self.knobs = None
        self.pid = os.getpid()
        self._first_losses = []
        self._survey_due = False

    def is_for_good(self):
        """True if the current settings stay for a long run."""
        return self.settings.mode == "apply"

    @contextlib.contextmanager
    def aside(self):
        """Pauses watching, for calls that the hook itself makes."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def trains_alone(self):
        """Called before a training whose framework computes with other families' frameworks. Withdraws their hooks, so
        that no step counts twice. Returns False if one of them has counted steps."""
        global _trains_alone
        if _trains_alone is None:
            others = [other for other in _entered if other is not self]
            if any(getattr(other.progress, "steps", 0) for other in others):
                return False
            _trains_alone = self
            for other in others:
                other.active = False
                other.patches.restore_all()
                other.progress.report.stop()
        return _trains_alone is self

    def guarded(self, watch, *arguments):
        """Calls a function of the hook. A fault ends the hook, not the program."""
        try:
            return watch(*arguments)
        except Exception as error:
            self.failed(error)
            return None

    def failed(self, error):
        """Called on a fault of the hook: the program continues unchanged, and the tuner is informed."""
        self.active = False
        self.patches.restore_all()
        if self.progress is not None:
            self.progress.report.stop()
        why = "%s: %s" % (type(error).__name__, error)
        self.events.tell("disabled", why=why)
        if self.settings.mode == "apply":
            with self.printer.aloud():
                self.events.warn("the settings are not applied: " + why)
        self.events.open()
        self.withdrawn(why)

    def withdrawn(self, why):
        """Undoes changes that `patches` did not make."""
        if self.knobs is not None:
            self.knobs.collector.restore()

    def survey_after_step(self):
        """Called when new facts about the program are known."""
        self._survey_due = True

    def tell_steps(self, steps, loss, new=1):
        """Called after the last `new` of `steps` steps. Reports the first losses. After some steps, surveys the
        program. `loss()` returns the last step's loss as a number; None if it is unknown."""
        if steps <= FIRST_LOSSES and self.settings.prints_events:
            self._first_losses.append(repr(loss()))
            if len(self._first_losses) == FIRST_LOSSES:
                self.events.tell("losses", first=self._first_losses)
        if self._survey_due or any(steps - new < at <= steps for at in SURVEYS_AT):
            self._survey_due = False
            self.survey()
            self.events.open()

    def survey(self):
        rank = ranks.rank_and_world_size()[0]
        fields = {"family": self.family, "mode": self.settings.mode, "rank": rank, "world_size": ranks.together()}
        fields.update(device=self.device(), pid=self.pid, python=platform.python_version(), **self.versions())
        self.events.tell("patched", **fields)
        self.tell_program()
        self.report_knobs(rank)

    def tell_program(self):
        reporter = "program" if report.program_reports() else "hook"
        self.events.tell("program", **self.program(), reporter=reporter)

    def report_knobs(self, rank):
        """Reports each knob. In a long run, also warns on stderr about each setting that is not active."""
        with self.aside():
            for status, knob_class in self.knobs.statuses():
                fields = dict(status.fields(), knob=status.name, **{"class": knob_class})
                if rank and status.name in self.knobs.requested:
                    fields["rank"] = rank
                self.events.tell("knob", status.name, **fields)
                if self.is_for_good() and not status.is_applied(self.knobs.requested):
                    requested = self.knobs.requested[status.name]
                    why = status.why or "it is %s" % status.value
                    self.events.warn("%s=%s could not be set: %s" % (status.name, requested, why))


def install(make, wrap):
    """Makes a hook by `make(settings)`, which may return None, and lets it enter the program by `wrap(hook)`. Never
    raises. Returns the hook; None if there is none."""
    if _trains_alone is not None:
        return None
    hook = None
    try:
        hook = make(settings.read())
        if hook is None:
            return None
        _entered.append(hook)
        wrap(hook)
    except Exception as error:
        if hook is None:
            sys.stderr.write("steptune: the hook is off: %s\n" % error)
        else:
            hook.failed(error)
    return hook
