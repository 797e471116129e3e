# SPDX-License-Identifier: Apache-2.0
"""Parts of a step in the GPU's own time: events at a few places of every eighth step, which are read when
they were reached."""

import collections

from steptune_pytorch.part_clock import BACKWARD, DATA, FORWARD, OPTIMIZER, OTHER, PARTS, PREPARE

EVERY = 8
_FIRST = 2  # the steps before it warm up
_MOST_MARKS = 64  # of a step: a forward and a backward take three
_MOST_UNREAD = 8  # steps
_RECENT = 32  # steps
_WAITS = -1  # for the next forward


class _Step:
    def __init__(self, begin, clock):
        self.events = [begin]
        self.parts = []  # what the GPU did before the second event, the third, ...
        self.host_s = []  # where the program was meanwhile: seconds by part
        self.training_s = None  # when it was over
        self._totals_s = list(clock.totals_s)

    def mark(self, part, event, clock):
        self.events.append(event)
        self.parts.append(part)
        self.host_s.append([now - before for now, before in zip(clock.totals_s, self._totals_s)])
        self._totals_s = list(clock.totals_s)

    def was_reached(self):
        return all(event.query() for event in self.events)

    def seconds(self):
        """By part, and those without work between steps."""
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
    """A GPU runs dry at the end of the time between two steps: it waits for what the program does last."""
    for part in (PREPARE, DATA):
        share_s = min(seconds, max(0.0, host_s[part]))
        by_part[part] += share_s
        seconds -= share_s
    by_part[OTHER] += seconds


class GpuParts:
    """`events.record()` gives an event, as CudaEvents does; `clock` is the program's PartClock."""

    def __init__(self, events, clock):
        self._events = events
        self._clock = clock
        self._step = None
        self._unread = collections.deque()
        self._totals_s = [0.0] * len(PARTS)
        self._known_until_s = None  # of the training
        self._idle_shares = collections.deque(maxlen=_RECENT)

    @property
    def is_looking(self):
        """Whether this step is one that is looked at."""
        return self._step is not None

    def forward_begins(self):
        if self._step is not None:
            before = self._step.parts[-1] if self._step.parts else None
            # Of several outermost modules the next one goes on with the forward.
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
        """After the optimiser; the clock is confirmed."""
        self.optimizer_ended()
        training_s = self._clock.confirmed_training_s()
        step, self._step = self._step, None
        if step is not None and len(self._unread) < _MOST_UNREAD:
            step.training_s = training_s
            self._unread.append(step)
        if steps % EVERY == _FIRST:
            self.look()

    def look(self):
        """At the step that begins now."""
        self._read()
        begin = self._events.record()
        if begin is not None:
            self._step = _Step(begin, self._clock)
            if self._known_until_s is None:
                self._known_until_s = self._clock.confirmed_training_s()

    def dropped(self):
        """Something else than training happens in this step."""
        self._step = None

    def parts(self):
        """Seconds of training steps by part, up to the last step that was looked at; None before."""
        self._read()
        if not self._idle_shares:
            return None
        return {name: round(seconds, 6) for name, seconds in zip(PARTS, self._totals_s)}

    def metrics(self):
        if not self._idle_shares:
            return {}
        return {"gpu_idle_share": sum(self._idle_shares) / len(self._idle_shares)}

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
            self._idle_shares.append(idle_s / whole_s)
            # The steps since the last look are taken to be like this one.
            steps_s = step.training_s - self._known_until_s
            self._known_until_s = step.training_s
            for part, seconds in enumerate(by_part):
                self._totals_s[part] += steps_s * seconds / whole_s
