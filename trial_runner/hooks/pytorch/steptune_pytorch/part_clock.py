# SPDX-License-Identifier: Apache-2.0
"""Where the time of the training thread goes. Each moment belongs to one part, so parts add up."""

from time import perf_counter

PARTS = ("data", "prepare", "forward", "backward", "optimizer", "other")
DATA, PREPARE, FORWARD, BACKWARD, OPTIMIZER, OTHER, APART = range(7)


class PartClock:
    """`APART` is time that is told as a phase and in no part. What is called in each step writes `switch` out."""

    def __init__(self):
        self.current = OTHER
        self.now_s = perf_counter()
        self.totals_s = [0.0] * 7
        self.confirmed_s = self.now_s
        self.confirmed_totals_s = list(self.totals_s)

    def switch(self, part):
        """The time since the last switch belongs to the part before; returns that part."""
        now_s = perf_counter()
        before = self.current
        self.totals_s[before] += now_s - self.now_s
        self.now_s = now_s
        self.current = part
        return before

    def confirm(self):
        """What was counted up to the last switch belongs to training steps."""
        self.confirmed_totals_s[:] = self.totals_s
        self.confirmed_s = self.now_s

    def discard(self):
        """What was counted since `confirm` does not: it belongs to a phase."""
        self.totals_s[:] = self.confirmed_totals_s
        self.confirmed_s = self.now_s

    def leave_out(self, totals_s):
        """Likewise of what was counted from `confirm` until the totals were these."""
        for part, then_s in enumerate(totals_s):
            self.totals_s[part] += self.confirmed_totals_s[part] - then_s

    def clear(self):
        """What came before the first step is start-up."""
        self.totals_s[:] = [0.0] * 7
        self.confirm()

    def confirmed_training_s(self):
        """Seconds of training steps up to the last `confirm`; phases are not in it."""
        return sum(self.confirmed_totals_s[:APART])

    def parts(self):
        """Seconds of training steps by part, up to the last `confirm`."""
        return {name: round(self.confirmed_totals_s[part], 6) for part, name in enumerate(PARTS)}


class HostParts:
    """Parts of a step where no GPU has its own: those of the thread that trains."""

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
