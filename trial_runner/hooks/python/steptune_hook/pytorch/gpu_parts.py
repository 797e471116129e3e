# SPDX-License-Identifier: Apache-2.0
"""Measures the parts of a step in the GPU's own time, by events at a few places of some steps. Events are read after
the GPU has reached them. About every eighth short step is measured, at random: a loader's rhythm could coincide with
fixed distances."""

import collections
import random

from steptune_hook.part_clock import BACKWARD, DATA, FORWARD, OPTIMIZER, OTHER, PARTS, PREPARE

_LONG_S = 0.05  # a step of this length is not slowed down by measuring
_GAPS = (4, 12)  # least and most steps between measurements of shorter steps
_FIRST = 2  # earlier steps are warm-up
_MOST_MARKS = 64  # per step; a forward and a backward take three
_MOST_UNREAD = 8  # steps
_RECENT = 32  # steps
_WAITS = -1  # marks the time before the next forward


class _Step:
    def __init__(self, begin, clock):
        self.events = [begin]
        self.parts = []  # parts of the GPU's work before the second event, the third event, ...
        self.host_s = []  # the program's seconds by part in the same intervals
        self.number = None
        self.training_s = None  # training time at the step's end
        self._totals_s = list(clock.totals_s)

    def mark(self, part, event, clock):
        self.events.append(event)
        self.parts.append(part)
        self.host_s.append([now - before for now, before in zip(clock.totals_s, self._totals_s)])
        self._totals_s = list(clock.totals_s)

    def was_reached(self):
        return all(event.query() for event in self.events)

    def seconds(self):
        """Returns the seconds by part, and the seconds without GPU work between steps."""
        by_part = [0.0] * len(PARTS)
        idle_s = 0.0
        for index, part in enumerate(self.parts):
            seconds = self.events[index].elapsed_time(self.events[index + 1]) / 1e3
            if part == _WAITS:
                idle_s += seconds
                _blame(by_part, seconds, self.host_s[index])
            else:
                by_part[part] += seconds
        return by_part, idle_s


def _blame(by_part, seconds, host_s):
    """Assigns idle seconds to parts. At the end of the time between two steps, a GPU has no more work. So it waits for
    the program's last actions."""
    for part in (PREPARE, DATA):
        share_s = min(seconds, max(0.0, host_s[part]))
        by_part[part] += share_s
        seconds -= share_s
    by_part[OTHER] += seconds


class GpuParts:
    """`events.record()` returns an event, as in CudaEvents; `clock` is the program's PartClock."""

    def __init__(self, events, clock):
        self._events = events
        self._clock = clock
        self._step = None
        self._next_measurement = _FIRST
        self._measured_step = 0  # step of the last measurement
        self._measured_s = 0.0
        self._random = random.Random(0)  # keeps the program's generator unchanged
        self._unread = collections.deque()
        self._totals_s = [0.0] * len(PARTS)
        self._known_until = 0  # last step whose parts are known
        self._known_until_s = None
        # Per measurement: seconds without work between steps, all seconds, and the steps and training time that it
        # represents.
        self._recent = collections.deque(maxlen=_RECENT)

    @property
    def is_looking(self):
        return self._step is not None

    def forward_begins(self):
        if self._step is not None:
            before = self._step.parts[-1] if self._step.parts else None
            # If there are several outermost modules, the next one continues the forward.
            self._mark(FORWARD if before == FORWARD else _WAITS)

    def forward_ended(self):
        if self._step is not None:
            self._mark(FORWARD)

    def backward_ended(self):
        if self._step is not None:
            self._mark(BACKWARD)

    def optimizer_ended(self):
        if self._step is not None:
            self._mark(OPTIMIZER)

    def step_ended(self, steps):
        """Called after the optimizer; the clock is confirmed."""
        self.optimizer_ended()
        training_s = self._clock.confirmed_training_s()
        step, self._step = self._step, None
        if step is not None and len(self._unread) < _MOST_UNREAD:
            step.number, step.training_s = steps, training_s
            self._unread.append(step)
        if steps >= self._next_measurement:
            self._next_measurement = steps + self._gap(steps, training_s)
            self._read()
            begin = self._events.record()
            if begin is not None:
                self._step = _Step(begin, self._clock)
                if self._known_until_s is None:
                    self._known_until, self._known_until_s = steps, training_s

    def _gap(self, steps, training_s):
        step_s = (training_s - self._measured_s) / max(1, steps - self._measured_step)
        self._measured_step, self._measured_s = steps, training_s
        return 1 if step_s >= _LONG_S else self._random.randint(*_GAPS)

    def dropped(self):
        """Called if this step contains something other than training."""
        self._step = None

    def parts(self):
        """Returns the seconds of training steps by part, up to the last measured step; None before the first."""
        self._read()
        if not self._recent:
            return None
        return {name: round(seconds, 6) for name, seconds in zip(PARTS, self._totals_s)}

    def metrics(self):
        if not self._recent:
            return {}
        idle_s, whole_s, _, _ = self._recent_sums()
        return {"gpu_idle_share": idle_s / whole_s}

    def _recent_sums(self):
        return [sum(column) for column in zip(*self._recent)]

    def _mark(self, part):
        event = self._events.record()
        if event is None or len(self._step.parts) >= _MOST_MARKS:
            self._step = None
        else:
            self._step.mark(part, event, self._clock)

    def _read(self):
        while self._unread and self._unread[0].was_reached():
            step = self._unread.popleft()
            by_part, idle_s = step.seconds()
            whole_s = sum(by_part)
            if whole_s <= 0.0:
                continue
            # Assume that the steps since the last measurement are like this one. If they took longer than usual, the
            # measurement represents a larger share of time.
            steps = step.number - self._known_until
            self._recent.append((idle_s, whole_s, steps, step.training_s - self._known_until_s))
            self._known_until, self._known_until_s = step.number, step.training_s
            _, measured_s, stand_for, training_s = self._recent_sums()
            scale = steps * (training_s / stand_for) / (measured_s / len(self._recent))
            for part, seconds in enumerate(by_part):
                self._totals_s[part] += scale * seconds
