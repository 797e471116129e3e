# SPDX-License-Identifier: Apache-2.0
"""Which parameters a backward gave a gradient. One that has had one, and gets none in a step, is moved by zeros in place
of it (momentum, decay, moments), and passed over where there is none: zero_grad decides which of the two."""

import weakref

import torch

from steptune_pytorch.gradients import trained_by

_FIRST_STEPS = 32  # are all looked at, then now and then
_STEPS_BETWEEN = 64
_STEPS_IN_TURN = 2  # a step is judged where all since the one before it was seen


class _Received:
    """Of one optimizer, by the id of each parameter that it has."""

    def __init__(self):
        self.ever = {}  # the layout of the gradient
        self.since_step = set()
        self.is_whole = True  # since the last step all backwards were seen


class ReceivedGradients:
    """`find_optimizers()` gives those to be looked at. `lacks(optimizer, parameters)` is called where parameters of one
    got none for a step: before it or, where the backward comes in a closure, after it."""

    def __init__(self, find_optimizers, lacks):
        self._find_optimizers = find_optimizers
        self._lacks = lacks
        self._by_optimizer = weakref.WeakKeyDictionary()
        self.before = None  # the backward under way: parameters, their gradients, how often those were written
        self.is_looking = False
        self.have_lacked = False

    def next_step(self, steps):
        """After how many steps the next look is due, once there were so many."""
        if self.have_lacked or not self._find_optimizers():
            return float("inf")
        in_turn = steps % _STEPS_BETWEEN
        is_due = steps < _FIRST_STEPS or in_turn < _STEPS_IN_TURN
        return steps if is_due else steps - in_turn + _STEPS_BETWEEN

    def step_ended(self, steps):
        """The backward of the next one may go unseen."""
        if self.is_looking:
            self.is_looking = self.next_step(steps) <= steps

    def backward_begins(self, steps):
        was_looking, self.is_looking = self.is_looking, self.next_step(steps) <= steps
        if not self.is_looking:
            return
        self.before = []
        for optimizer in self._find_optimizers():
            received = self._by_optimizer.setdefault(optimizer, _Received())
            if not was_looking:
                received.is_whole = False
                received.since_step.clear()
            self.before.append((received, [(p, p.grad, _writes(p.grad)) for p in trained_by([optimizer])]))

    def backward_ended(self):
        before, self.before = self.before, None
        for received, gradients in before or ():
            for parameter, gradient, writes in gradients:
                now = parameter.grad
                if now is not None and (now is not gradient or now._version != writes):
                    received.ever[id(parameter)] = now.layout
                    received.since_step.add(id(parameter))

    def steps(self, optimizer):
        received = self._by_optimizer.get(optimizer)
        if received is None or not received.since_step:  # it steps once more on the same gradients
            return
        if received.is_whole:
            missing = received.ever.keys() - received.since_step
            lacking = [p for p in trained_by([optimizer]) if id(p) in missing]
            if lacking:
                self.have_lacked, self.is_looking = True, False
                self._lacks(optimizer, [p for p in lacking if received.ever[id(p)] == torch.strided])
        received.since_step.clear()
        received.is_whole = True


def _writes(gradient):
    return None if gradient is None else gradient._version
