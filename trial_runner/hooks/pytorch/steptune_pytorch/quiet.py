# SPDX-License-Identifier: Apache-2.0
"""Stretches of short steps like those before them, in which none of the hook's own code runs. Programs evict it from
the processor's caches in each step, so that each function of it that is called takes up to ten microseconds, whatever it
does. In a stretch all that a step calls is PyTorch's own again, and steps are counted by what PyTorch calls at the end of
each: an iterator in C, which comes back to Python when a line is due."""

import itertools
import math
import operator
from time import perf_counter

from torch.optim import Optimizer

STEPS_TO_KNOW = 20  # before the first stretch
MOST_STEP_S = 0.02  # a step that takes longer can be watched as a whole
_MOST_STEPS_WITHOUT_CLOCK = 32
_FEWEST_STEPS = 4  # a program that ends stretches after fewer by what it does
_PAUSE_STEPS = 64  # is left without them for so many
_ENDLESS = 1 << 40
_COUNTER = "_optimizer_step_code"  # called after each step of any optimizer, for profilers


class Quiet:
    """`is_on`: a stretch is under way. All is the training thread's."""

    def __init__(self, patches):
        self._patches = patches
        self._places = set()
        self._taken_out = []
        self._own_counter = Optimizer.__dict__.get(_COUNTER)
        self._counter = None
        self.is_on = False
        self.steps = 0
        self._steps_before = 0
        self._counting = None  # of it each step takes one
        self._count = 0  # so many were in it
        self.begin_s = self.end_s = 0.0  # of the stretch
        # Where batches are watched:
        self.iterator = 0  # id of what gives them; 0: they are not
        self.item = None  # of a batch, whose first dimension is its samples
        self.loader = None
        self.batches = self.samples = self.samples_of_last = 0
        self.data_s = 0.0
        self._left = None
        self._next_step = STEPS_TO_KNOW

    def forget(self, left):
        """For a new Progress. `left(is_mid_step)` is called when a stretch is over."""
        self.stop()
        self._left = left
        self._next_step = STEPS_TO_KNOW

    def leaves_out(self, owner, name):
        """That patch."""
        self._places.add((owner, name))

    def may_begin(self, steps):
        return self._own_counter is not None and steps >= self._next_step

    def never_again(self):
        self._next_step = math.inf

    def begin(self, steps, now_s, until_s, most_steps, step_s):
        """After step `steps`, at `now_s`; a step takes about `step_s`. Batches are watched if `iterator` is not 0."""
        self._steps_before = steps
        self.steps = 0
        self.begin_s = now_s
        self.batches = self.samples = 0
        self.data_s = 0.0
        kept = "__next__" if self.iterator != 0 else None
        self._taken_out = self._patches.take_out({place for place in self._places if place[1] != kept})
        self._counter = itertools.chain.from_iterable(self._counted(now_s, until_s, most_steps, step_s)).__next__
        setattr(Optimizer, _COUNTER, self._counter)
        self.is_on = True

    def _counted(self, now_s, until_s, most_steps, step_s):
        """Something to take for each step, for as many at once as may end before the clock is looked at again. The step
        after them comes back here."""
        while True:
            count = most_steps - self.steps - 1
            if until_s < math.inf:
                count = min(count, max(1, int((until_s - now_s) / step_s)), _MOST_STEPS_WITHOUT_CLOCK)
            self._count = min(count, _ENDLESS)
            self._counting = itertools.repeat(None, self._count)
            yield self._counting
            if not self.is_on:
                break
            self.steps += self._count
            now_s = perf_counter()
            if now_s >= until_s or self.steps + 1 >= most_steps:
                self.steps += 1
                self._end(now_s, False)
                break
        yield itertools.repeat(None)

    def leave(self):
        """In the middle of a step, as far as is known."""
        if self.is_on:
            self.steps += self._count - operator.length_hint(self._counting)
            if self.steps < _FEWEST_STEPS:
                self._next_step = self._steps_before + _PAUSE_STEPS
            self._end(perf_counter(), True)

    def _end(self, now_s, is_mid_step):
        self.end_s = now_s
        self.stop()
        self._left(is_mid_step)

    def stop(self):
        """What was counted is forgotten, unless it is taken over now."""
        self.is_on = False
        if self._counter is not None and Optimizer.__dict__.get(_COUNTER) is self._counter:
            setattr(Optimizer, _COUNTER, self._own_counter)
        self._counter = None
        taken_out, self._taken_out = self._taken_out, []
        self._patches.put_in(taken_out)
