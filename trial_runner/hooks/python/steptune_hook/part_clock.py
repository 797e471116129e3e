# SPDX-License-Identifier: Apache-2.0
"""Divides the training thread's time into parts. Each moment belongs to one part, so the parts add up."""

from time import perf_counter

PARTS = ("data", "prepare", "forward", "backward", "optimizer", "other")
DATA, PREPARE, FORWARD, BACKWARD, OPTIMIZER, OTHER, APART = range(7)


class PartClock:
    """Time by part. `APART` is reported as a phase and is no part of a step. Functions that run in each step repeat the
    code of `switch`, because a call would take microseconds."""

    def __init__(self):
        self.current = OTHER
        self.now_s = perf_counter()
        self.totals_s = [0.0] * 7
        self.confirmed_s = self.now_s
        self.confirmed_totals_s = list(self.totals_s)

    def switch(self, part):
        """Assigns the time since the last switch to the current part, and returns that part."""
        now_s = perf_counter()
        before = self.current
        self.totals_s[before] += now_s - self.now_s
        self.now_s = now_s
        self.current = part
        return before

    def confirm(self):
        """Counts the time up to the last switch as training steps."""
        self.confirmed_totals_s[:] = self.totals_s
        self.confirmed_s = self.now_s

    def discard(self):
        """Removes the time since `confirm` from the training steps, since it belongs to a phase."""
        self.totals_s[:] = self.confirmed_totals_s
        self.confirmed_s = self.now_s

    def leave_out(self, totals_s):
        """Removes the time from `confirm` up to the moment when the totals were `totals_s`."""
        for part, then_s in enumerate(totals_s):
            self.totals_s[part] += self.confirmed_totals_s[part] - then_s

    def clear(self):
        """Removes the time before the first step, which is start-up."""
        self.totals_s[:] = [0.0] * 7
        self.confirm()

    def confirmed_training_s(self):
        """Returns the seconds of training steps up to the last `confirm`, without phases."""
        return sum(self.confirmed_totals_s[:APART])

    def parts(self):
        """Returns the seconds of training steps by part, up to the last `confirm`."""
        return {name: round(self.confirmed_totals_s[part], 6) for part, name in enumerate(PARTS)}


class HostParts:
    """Parts of the training thread, used if no GPU parts are measured."""

    is_looking = False

    def __init__(self, clock):
        self._clock = clock

    def forward_begins(self):
        pass

    forward_ended = backward_ended = optimizer_ended = dropped = forward_begins

    def step_ended(self, steps):
        pass

    def parts(self):
        return self._clock.parts()

    def metrics(self):
        return {}
