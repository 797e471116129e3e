# SPDX-License-Identifier: Apache-2.0
"""Wraps Optimizer.step. Decides which calls count as a step if there are several optimizers or nested calls."""

import threading
import weakref
from threading import get_ident
from time import perf_counter

from torch.optim import Optimizer

from steptune_hook import call_site
from steptune_hook.part_clock import BACKWARD, OPTIMIZER
from steptune_hook.patches import PickledByValue
from steptune_hook.pytorch.knobs.loss_scale import Skipped


class Optimizers(PickledByValue):
    _attributes_of_stand_in = {"_depth": 1}

    def __init__(self, hook):
        self._hook = hook
        self._depth = 0
        self._in_round = weakref.WeakSet()
        self._alone = _nobody  # reference to the only optimizer of the round, if there is only one
        self._has_repeated = False  # True if that optimizer was alone in the previous round, too
        self._round_step = 0  # number of steps when the round began; more steps since then were plain
        self.calls = 0
        self.closure = False
        self.made = []  # (class name, where), in order
        self.alive = weakref.WeakSet()
        hook.patches.replace(Optimizer, "__init__", self._wrap_init)
        hook.patches.replace(Optimizer, "zero_grad", self._wrap_zero_grad)

    def _wrap_init(self, original):
        hook = self._hook

        def __init__(optimizer, params, defaults, *arguments, **named):
            if hook.watches_training():
                defaults = hook.guarded(hook.knobs.optimizer.defaults, type(optimizer), defaults) or defaults
            original(optimizer, params, defaults, *arguments, **named)
            if hook.watches():
                hook.guarded(self.adopt, optimizer)

        return __init__

    def adopt(self, optimizer):
        cls = type(optimizer)
        # An inherited step that is wrapped already must not be wrapped twice.
        if not self._hook.patches.is_replaced(cls, "step"):
            self._hook.patches.replace(cls, "step", self._wrap_step)
        site = (cls.__name__, call_site.where())
        if site not in self.made:
            self.made.append(site)
        self.alive.add(optimizer)
        self._hook.progress.optimizer_made()

    def pin(self):
        """Stops watching zero_grad if no knob needs it any more."""
        if not self._hook.knobs.optimizer.needs_zero_grad():
            self._hook.patches.restore(Optimizer, "zero_grad")

    def _wrap_zero_grad(self, original):
        hook = self._hook

        def zero_grad(optimizer, *arguments, **named):
            if hook.active:
                named = hook.knobs.optimizer.zero_grad_called(arguments, named)
            return original(optimizer, *arguments, **named)

        return zero_grad

    def _wrap_step(self, original):
        hook = self._hook
        scaled = hook.knobs.forward.loss_scale.around_step(original)

        def step(optimizer, *arguments, **named):
            # A subclass that calls super().step(), or a wrapper around another optimizer, makes one step.
            if self._depth > 0 or not hook.active or (get_ident() != hook.thread and not self._is_in_backward()):
                return original(optimizer, *arguments, **named)
            self._depth += 1
            progress, clock = hook.progress, hook.clock
            now_s = perf_counter()
            before = clock.current
            clock.totals_s[before] += now_s - clock.now_s
            clock.now_s = now_s
            clock.current = OPTIMIZER
            backwards = progress.backwards
            # A wrapper passes its own argument on, which may be None.
            has_closure = callable(arguments[0] if arguments else named.get("closure"))
            if progress.received.is_looking and not has_closure:
                hook.guarded(progress.received.steps, optimizer)
            try:
                returned = scaled(optimizer, *arguments, **named)
            finally:
                self._depth -= 1
                now_s = perf_counter()
                clock.totals_s[clock.current] += now_s - clock.now_s
                clock.now_s = now_s
                clock.current = before
            if scaled is not original and self._was_skipped(returned):
                return returned.value
            try:
                self.calls += 1
                if progress.backwards > backwards:
                    self.closure = True
                if progress.received.is_looking and has_closure:
                    progress.received.steps(optimizer)
                if progress.is_plain and self._alone() is optimizer:
                    progress.plain_step_ended()
                else:
                    self._stepped(optimizer)
            except Exception as error:
                hook.failed(error)
            return returned

        return step

    def _was_skipped(self, returned):
        """True if the hook skipped the step. Not part of `step`, which may be pickled by value: other interpreters lack
        the hook's classes."""
        is_skipped = type(returned) is Skipped
        if is_skipped:
            self._hook.guarded(self._hook.progress.step_skipped)
        return is_skipped

    def _is_in_backward(self):
        """True if a gradient's hook makes the step. On a GPU, autograd calls the hook in another thread, for which the
        training thread waits."""
        in_backward = self._hook.clock.current == BACKWARD
        return in_backward and isinstance(threading.current_thread(), threading._DummyThread)

    def _stepped(self, optimizer):
        """Counts steps. With several optimizers a step is a round, which ends when an optimizer steps again. If models
        are trained one after another (federated learning), it also ends with the next model's first batch."""
        progress = self._hook.progress
        has_turn_again = optimizer in self._in_round
        has_repeated = self._has_repeated or progress.steps > self._round_step
        # A step that only regularises (StyleGAN2) has no batch.
        has_repeated = has_repeated and progress.is_fed and progress.unfed_step < progress.steps
        if len(self._in_round) == 0 or has_turn_again or has_repeated:
            self._has_repeated = has_turn_again and self._alone() is optimizer
            self._in_round.clear()
            progress.step_ended()
            self._round_step = progress.steps
        else:
            progress.other_optimizer_stepped()
        self._in_round.add(optimizer)
        self._alone = weakref.ref(optimizer) if len(self._in_round) == 1 else _nobody


def _nobody():
    return None
