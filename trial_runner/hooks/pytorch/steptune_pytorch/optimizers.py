# SPDX-License-Identifier: Apache-2.0
"""Optimizer.step: what a step is, with several optimisers and nested calls."""

import contextlib
import weakref

from torch.optim import Optimizer

from steptune_pytorch import call_site
from steptune_pytorch.knobs.zero import is_sharded
from steptune_pytorch.part_clock import OPTIMIZER


class Optimizers:
    def __init__(self, hook):
        self._hook = hook
        self._depth = 0
        self._inside_another = False
        self._in_round = weakref.WeakSet()
        self.calls = 0
        self.closure = False
        self.made = []  # (class name, where), in order
        self.alive = weakref.WeakSet()
        hook.patches.replace(Optimizer, "__init__", self._wrap_init)
        hook.patches.replace(Optimizer, "zero_grad", self._wrap_zero_grad)

    def _wrap_init(self, original):
        hook = self._hook

        def __init__(optimizer, params, defaults, *arguments, **named):
            divided = is_sharded(optimizer)
            if hook.watches_training() and not divided:
                try:
                    defaults = hook.knobs.optimizer.defaults(type(optimizer), defaults)
                except Exception as error:
                    hook.failed(error)
            original(optimizer, params, defaults, *arguments, **named)
            if hook.watches() and (divided or not self._inside_another):
                try:
                    self.adopt(optimizer)
                except Exception as error:
                    hook.failed(error)

        return __init__

    @contextlib.contextmanager
    def as_one(self):
        """A divided optimiser and the one inside it that are made here count as one."""
        self._inside_another = True
        try:
            yield
        finally:
            self._inside_another = False

    def adopt(self, optimizer):
        """From now on its steps are seen."""
        cls = type(optimizer)
        # An inherited step that is wrapped already would be counted once anyway.
        if not getattr(cls.step, "steptune", False):
            self._hook.patches.replace(cls, "step", self._wrap_step)
        site = (cls.__name__, call_site.where())
        if site not in self.made:
            self.made.append(site)
        self.alive.add(optimizer)
        self._hook.progress.optimizer_made()

    def _wrap_zero_grad(self, original):
        hook = self._hook

        def zero_grad(optimizer, *arguments, **named):
            if hook.active:
                named = hook.knobs.optimizer.zero_grad_called(arguments, named)
            return original(optimizer, *arguments, **named)

        return zero_grad

    def _wrap_step(self, original):
        hook = self._hook

        def step(optimizer, *arguments, **named):
            # A subclass that calls super().step(), a wrapper around another optimiser: one step.
            if self._depth > 0 or not hook.watches():
                return original(optimizer, *arguments, **named)
            self._depth += 1
            before = hook.clock.switch(OPTIMIZER)
            backwards = hook.progress.backwards
            try:
                returned = original(optimizer, *arguments, **named)
            finally:
                self._depth -= 1
                hook.clock.switch(before)
            try:
                self.calls += 1
                self.closure = self.closure or hook.progress.backwards > backwards
                self._stepped(optimizer)
            except Exception as error:
                hook.failed(error)
            return returned

        return step

    def _stepped(self, optimizer):
        """With several optimisers a step is a round: it begins when one has its turn again."""
        if len(self._in_round) == 0 or optimizer in self._in_round:
            self._in_round.clear()
            self._hook.progress.step_ended()
        else:
            self._hook.progress.companion_stepped()
        self._in_round.add(optimizer)
