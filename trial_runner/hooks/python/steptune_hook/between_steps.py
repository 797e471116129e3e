# SPDX-License-Identifier: Apache-2.0
"""Finds evaluations: functions that are called between two steps, but only between a few of the steps."""

_LEAST_USUAL = 1 / 3  # a function that is called before at least this share of the steps is no evaluation
_STEPS_TO_KNOW = 3


class Function:
    """Base class for a function that the program calls."""

    usual = 0  # number of steps before which it was called


class BetweenSteps:
    def __init__(self, hook):
        self._hook = hook
        self._called = set()  # functions called since the last step
        self._evaluation_s = None  # start of the current evaluation

    def step_begins(self):
        for function in self._called:
            function.usual += 1
        self._called.clear()
        began_s, self._evaluation_s = self._evaluation_s, None
        if began_s is not None:
            self._hook.phase_ended("evaluation", began_s)

    def other_begins(self, function, steps, now_s):
        """Called before a function that is not the training step. `steps`: number of steps so far. `now_s()` returns
        the time."""
        is_unusual = steps >= _STEPS_TO_KNOW and function.usual < _LEAST_USUAL * steps
        if is_unusual and self._evaluation_s is None:
            self._evaluation_s = now_s()

    def other_ended(self, function):
        self._called.add(function)
