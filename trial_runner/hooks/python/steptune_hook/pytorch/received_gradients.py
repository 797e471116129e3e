# SPDX-License-Identifier: Apache-2.0
"""Records which parameters receive a gradient in a backward. A parameter may have received one earlier, but none in
this step. If zero_grad has set its gradient to zero, the optimizer still moves it (momentum, decay, moments). If
zero_grad has set it to None, the optimizer skips the parameter."""

import weakref

import torch

from steptune_hook.pytorch.gradients import trained_by

_FIRST_STEPS = 32  # all of these steps are watched
_STEPS_BETWEEN = 64
# Steps that are watched in a row: a step is judged only if all backwards since the previous step were seen
_STEPS_IN_TURN = 2


class _Received:
    """State of one optimizer. Parameters are identified by their id."""

    def __init__(self):
        self.ever = {}  # layout of each gradient
        self.since_step = set()
        self.is_whole = True  # True if all backwards since the last step were seen


class ReceivedGradients:
    """`find_optimizers()` returns the optimizers to watch. Calls `lacks(optimizer, parameters)` if some parameters
    received no gradient for a step. The call comes before the step or, with the backward in a closure, after it."""

    def __init__(self, find_optimizers, lacks):
        self._find_optimizers = find_optimizers
        self._lacks = lacks
        self._by_optimizer = weakref.WeakKeyDictionary()
        # In the current backward: parameters, their gradients before it, and how often each gradient was written
        self.before = None
        self.is_looking = False
        self.have_lacked = False

    def next_step(self, steps):
        """Returns the step after which the next look is due, given the steps so far."""
        if self.have_lacked or not self._find_optimizers():
            return float("inf")
        in_turn = steps % _STEPS_BETWEEN
        is_due = steps < _FIRST_STEPS or in_turn < _STEPS_IN_TURN
        return steps if is_due else steps - in_turn + _STEPS_BETWEEN

    def step_ended(self, steps):
        """Called after a step. The next step's backward may stay unseen."""
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
        if received is None or not received.since_step:  # the optimizer steps once more on the same gradients
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
