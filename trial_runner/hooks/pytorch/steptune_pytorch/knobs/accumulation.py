# SPDX-License-Identifier: Apache-2.0
"""Gradients of several batches for one step of the optimizer, in a program that makes one for each batch."""

import functools

import torch

from steptune_pytorch.knobs.row import Row
from steptune_pytorch.part_clock import BACKWARD

_NAME = "gradient_accumulation"
_CLIP = {"clip_grad_norm_": "max_norm", "clip_grad_value_": "clip_value"}  # and how its limit is called
_ITSELF = "the program accumulates gradients itself"
_SEVERAL = "several optimizers"
_CLOSURE = "the optimizer calls a closure"


class AccumulationKnob:
    """The program's calls stay as they are. Of `batches` in a row, all but the last neither step nor clip nor clear the
    gradients after them; each loss counts as its share of the mean over all."""

    def __init__(self, hook, asked):
        self._hook = hook
        self.batches = asked.get(_NAME, 1)
        self._refused = None
        self._added = 0  # batches whose gradients wait for the step
        self._backwards = 0  # since the program last called its optimizer
        self._witness = None  # of the gradients that wait: one of them, its parameter and how often it was written
        self._where = []

    @property
    def is_asked(self):
        return self.batches > 1

    def wrap(self):
        if not self.is_asked:
            return
        patches = self._hook.patches
        patches.replace(torch.nn.Module, "zero_grad", self._wrap_clearing)
        for module in (torch.nn.utils, torch.nn.utils.clip_grad):
            for name in _CLIP:
                patches.replace(module, name, functools.partial(self._wrap_clipping, name))

    # -- what the program calls ---------------------------------------------------------------------

    def shared(self, losses):
        """What the backward is to begin with in place of these: each its share of the mean."""
        self._backwards += 1
        if self._witness is not None and self._was_touched():
            self._give_up("the program clears or changes its gradients by itself")
        elif self._backwards > 1:
            self._give_back_shares()
            self._give_up(_ITSELF)
        elif len(self._hook.optimizers.alive) > 1:
            self._give_up(_SEVERAL)
        elif self._hook.knobs.strategy.is_asked:
            self._give_up("distributed_strategy is asked for, too")
        if not self.is_asked:
            return losses
        if isinstance(losses, torch.Tensor):
            return losses / self.batches
        return [loss / self.batches for loss in losses]

    def leaves_out(self, optimizer, has_closure):
        """Whether this call of its step comes before all batches are there."""
        backwards, self._backwards = self._backwards, 0
        if has_closure:
            self._give_up(_CLOSURE)
        elif self._hook.clock.current == BACKWARD:
            self._give_up("the optimizer steps within a backward")
        elif backwards == 0:
            self._give_up("the optimizer steps without a backward before it")
        if not self.is_asked:
            return False
        self._added = (self._added + 1) % self.batches
        self._witness = self._remember(optimizer) if self._added else None
        return self._added > 0

    def keeps_gradients(self):
        """Whether a call that clears them is left out."""
        return self._added > 0

    def _wrap_clearing(self, original):
        def zero_grad(module, *arguments, **named):
            if self._hook.watches() and self.keeps_gradients():
                return None
            return original(module, *arguments, **named)

        return zero_grad

    def _wrap_clipping(self, name, original):
        """In front of a step that is left out nothing is clipped; the norm is what the program may print."""

        def clip(parameters, *arguments, **named):
            if self._hook.watches() and self.is_asked and self._added + 1 < self.batches:
                if arguments:
                    arguments = (float("inf"),) + arguments[1:]
                else:
                    named = dict(named, **{_CLIP[name]: float("inf")})
            return original(parameters, *arguments, **named)

        return clip

    # -- refusals -----------------------------------------------------------------------------------

    def scales_loss(self):
        self._give_up("the program scales its loss (GradScaler), and looks at gradients before each step")

    def _give_up(self, why):
        """From now on each batch has its step, as the program does it."""
        if self._refused is None and self.is_asked:
            self._refused = why
            self.batches = 1
            self._added = 0
            self._witness = None
            self._hook.survey_after_step()

    def _give_back_shares(self):
        """The batch under way counts whole: exact where the number of batches is a power of two."""
        if self._added:
            return
        for optimizer in self._hook.optimizers.alive:
            for parameter in _with_gradients(optimizer):
                parameter.grad.mul_(self.batches)

    @staticmethod
    def _remember(optimizer):
        parameter = next(_with_gradients(optimizer), None)
        return None if parameter is None else (parameter, parameter.grad, parameter.grad._version)

    def _was_touched(self):
        parameter, gradient, version = self._witness
        return parameter.grad is not gradient or gradient._version != version

    # -- what is known ------------------------------------------------------------------------------

    def rows(self):
        optimizers = self._hook.optimizers
        backwards = self._hook.progress.backwards_per_step
        why = self._refused
        if why is None and not optimizers.alive:
            why = "no optimizer"
        elif why is None and len(optimizers.alive) > 1:
            why = _SEVERAL
        elif why is None and optimizers.closure:
            why = _CLOSURE
        elif why is None and not self.is_asked and backwards > 1:
            yield Row(_NAME, today=backwards, why=_ITSELF)
            return
        where = ["%s %s" % (site, name) for name, site in optimizers.made]
        yield Row(_NAME, today=1, value=self.batches if why is None else 1, why=why, where=where)


def _with_gradients(optimizer):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                yield parameter
