# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector, which searches for objects that refer to each other. `freeze` excludes the objects that
exist when training begins. `every_50` also freezes, and collects after every 50 steps instead of automatically."""

import gc

from steptune_hook import arrival
from steptune_hook.knobs.knob_status import KnobStatus

NAME = "gc"
_AUTO, _FREEZE, _EVERY = "auto", "freeze", "every_"
_CHOICES = (_AUTO, _FREEZE, "every_50")
# By this step, optimizers, loaders and compiled kernels have made their long-lived objects.
_FROZEN_AGAIN_AT_STEP = 10


class GarbageCollectorKnob:
    def __init__(self, requested):
        self._requested = requested.get(NAME)
        self._why = None
        self._value = _AUTO
        self._is_settled = False
        self.next_step = float("inf")  # step after which `step_ended` has something to do

    def step_ended(self, steps):
        """After the first step, sets the requested value. Later, freezes once more, and collects every 50 steps if
        requested."""
        if not self._is_settled:
            self._is_settled = True
            self._why = self._why_not()
            if self._requested is not None and self._why is None:
                self._put(self._requested, steps)
        elif steps >= self.next_step:
            gc.collect()
            if steps <= _FROZEN_AGAIN_AT_STEP:
                gc.freeze()
            self._find_next_step(steps)

    def switch(self, requested, steps):
        self._requested = requested.get(NAME)
        if self._is_settled and self._why is None:
            self._put(self._requested or _AUTO, steps)

    def after_fork(self):
        """Enables automatic collection. A loader's worker makes no steps, so it would never collect."""
        self.next_step = float("inf")
        self._is_settled = False
        if self._value.startswith(_EVERY):
            gc.enable()
            self._value = _FREEZE

    def restore(self):
        if self._value != _AUTO:
            self._put(_AUTO, 0)

    def _why_not(self):
        if self._value != _AUTO:
            return None
        if not gc.isenabled():
            return "the program has switched the garbage collector off"
        return "the program freezes objects itself" if gc.get_freeze_count() > arrival.frozen_at_start else None

    def _put(self, value, steps):
        if value not in _CHOICES:
            self._why = "it is none of %s" % ", ".join(_CHOICES)
            return
        if value == self._value:
            return
        if self._value != _AUTO:
            gc.unfreeze()
            gc.enable()
        if value != _AUTO:
            gc.collect()
            gc.freeze()
        if value.startswith(_EVERY):
            gc.disable()
        self._value = value
        self._find_next_step(steps)

    def _find_next_step(self, steps):
        steps_to = []
        if self._value != _AUTO and steps < _FROZEN_AGAIN_AT_STEP:
            steps_to.append(_FROZEN_AGAIN_AT_STEP)
        if self._value.startswith(_EVERY):
            steps_to.append(steps + int(self._value[len(_EVERY) :]))
        self.next_step = min(steps_to, default=float("inf"))

    def _current_value(self):
        """Returns the current value. The program may have changed it meanwhile."""
        if self._value.startswith(_EVERY):
            return _AUTO if gc.isenabled() else self._value
        return self._value if self._value == _AUTO or gc.get_freeze_count() else _AUTO

    def statuses(self):
        if not self._is_settled:
            self._why = self._why_not()
        yield KnobStatus(NAME, today=_AUTO, value=self._current_value(), why=self._why)
