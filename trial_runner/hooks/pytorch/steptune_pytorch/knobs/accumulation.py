# SPDX-License-Identifier: Apache-2.0
"""Accumulation of gradients: of so many steps that the program asks for, its optimizer makes the last, with the mean of
the gradients of their losses. Until then clearing and clipping wait, and ranks do not communicate."""

import torch
from torch.optim import Optimizer

from steptune_pytorch import ranks
from steptune_pytorch.knobs import accumulation_limits as limits
from steptune_pytorch.knobs import seeds
from steptune_pytorch.knobs.row import Row
from steptune_pytorch.knobs.silent_batches import SilentBatches
from steptune_pytorch.part_clock import BACKWARD
from steptune_pytorch.patches import PickledByValue

_NAME = "gradient_accumulation"
_MOST_DROPS = 1  # in a row: a batch whose loss is not finite, say


class AccumulationKnob(PickledByValue):
    _attributes_of_stand_in = {"_depth": 1}

    def __init__(self, hook, asked):
        self._hook = hook
        self._batches = asked.get(_NAME, 1)
        is_number = type(self._batches) is int and self._batches >= 1
        self._refused = None if is_number else "it is no number of batches"
        self.is_asked = is_number and self._batches > 1
        self._limits = limits.Limits(hook)
        self._silent = SilentBatches(hook, self._why_communicate, self._refuse)
        self._is_known = False  # the program was seen to make a step for a backward
        self._depth = 0
        self._is_in_backward = False
        self._withheld = 0  # steps that the program asked for since the last that was made
        self._has_gradients = False  # of a backward since it last asked
        self._drops = 0
        self._witness = None  # that gradients of batches before are as they were

    def wrap(self):
        if not self.is_asked:
            return
        patches = self._hook.patches
        patches.replace(torch.autograd, "backward", self._wrap_backward)
        patches.replace(Optimizer, "zero_grad", self._wrap_zero_grad)
        patches.replace(torch.nn.Module, "zero_grad", self._wrap_zero_grad)
        for owner in (torch.nn.utils.clip_grad, torch.nn.utils):
            patches.replace(owner, "clip_grad_norm_", self._wrap_clip_norm)
            for name in ("clip_grad_value_", "clip_grads_with_norm_"):
                if hasattr(owner, name):
                    patches.replace(owner, name, self._wrap_clip)
        self._silent.wrap(patches)

    def wrap_step(self, cls):
        """Around the hook's own wrapper, which a step that is not made does not reach."""
        if self.is_asked:
            self._hook.patches.replace(cls, "step", self._wrap_step)

    # -- whether ----------------------------------------------------------------------------------

    def scales_loss(self):
        """The program does, by a GradScaler."""
        self._limits.scales = True
        if self.is_asked:
            self._refuse(limits.SCALER)

    def hook_failed(self, why):
        """The other ranks would wait for this one, which communicates in each batch from now on."""
        if self.is_asked and self._refused is None and self._hook.progress.has_begun():
            self._silent.batch_ended()
            self._refused = why
            if ranks.together() > 1:
                self._give_up(why)

    def _is_in_force(self):
        return self._refused is None and self._hook.watches()

    def _is_last(self):
        return self._withheld >= self._batches - 1

    def _refuse(self, why, may_communicate=False):
        """From now on the program goes on as it was. `may_communicate`: a backward to come does so, of all gradients."""
        if self._refused is not None:
            return
        self._refused = why
        if self._silent.batch_ended() and not may_communicate:
            self._give_up(why)
        self._hook.progress.batches_per_step = 1
        if self._has_gradients and self._withheld == 0:
            # Of this step's first backward: what it would have been. To the last bit with a power of two.
            with torch.no_grad():
                for gradient in limits.gradients_of(self._hook):
                    gradient.mul_(self._batches)
        self._hook.survey_after_step()

    def _give_up(self, why):
        """Ranks would go on with gradients of their own."""
        with self._hook.printer.aloud():
            self._hook.events.tell("gave_up", knob=_NAME, value=self._batches, why=why)
            self._hook.events.open()
        raise SystemExit("steptune: %s=%s: %s" % (_NAME, self._batches, why))

    def _why_not_now(self):
        """Before a batch."""
        if self._has_gradients:
            return limits.SEVERAL_BACKWARDS
        if self._withheld and self._witness is not None and self._witness.was_touched():
            return "the program writes into gradients itself between a backward and the next"
        return self._limits.why_not()

    def _why_communicate(self):
        """In a forward that begins: None where ranks need not, why it is refused, or an empty text."""
        if self._refused is not None:
            return ""
        return self._why_not_now() or ("" if self._is_last() or not self._is_known else None)

    def _guarded(self, do, *what):
        """None where the hook itself fails: the program goes on without it."""
        try:
            return do(*what)
        except Exception as error:
            self._hook.failed(error)
        return None

    # -- backward ---------------------------------------------------------------------------------

    def _wrap_backward(self, original):
        def backward(tensors, grad_tensors=None, *arguments, **named):
            if self._is_in_backward or not self._is_in_force():  # one within another: of a checkpoint, say
                return original(tensors, grad_tensors, *arguments, **named)
            tensors = tensors if isinstance(tensors, torch.Tensor) else list(tensors)
            given = self._guarded(self._begin_backward, tensors, grad_tensors) or (grad_tensors,)
            self._is_in_backward = True
            try:
                return original(tensors, *given, *arguments, **named)
            finally:
                self._is_in_backward = False
                self._guarded(self._end_backward)

        return backward

    def _begin_backward(self, tensors, grad_tensors):
        why = self._why_not_now()
        if why is not None:
            self._refuse(why)
            return None
        self._hook.progress.batches_per_step = self._batches
        return (seeds.scaled(tensors, grad_tensors, 1.0 / self._batches),)

    def _end_backward(self):
        self._has_gradients = self._refused is None
        self._witness = None if self._is_last() else limits.witness(self._hook)

    # -- between backward and step ----------------------------------------------------------------

    def _wrap_zero_grad(self, original):
        def zero_grad(owner, *arguments, **named):
            if self._is_in_force() and self._guarded(self._keeps_gradients, owner):
                return None
            return original(owner, *arguments, **named)

        return zero_grad

    def _keeps_gradients(self, owner):
        """Whether an optimizer or a module is not to clear them yet."""
        if isinstance(owner, torch.nn.Module) and not limits.is_trained(self._hook, owner):
            return False
        if self._withheld and not self._has_gradients:
            return True
        if self._withheld:
            # The batch just computed is not to count, and can no longer be told from those before.
            self._drops += 1
            if self._drops > _MOST_DROPS:
                self._refuse("the program clears gradients between backward and step")
        self._batch_ended()
        self._withheld = 0
        return False

    def _leaves_unclipped(self):
        return self._is_in_force() and self._has_gradients and not self._is_last()

    def _wrap_clip(self, original):
        def clip(*arguments, **named):
            return None if self._leaves_unclipped() else original(*arguments, **named)

        return clip

    def _wrap_clip_norm(self, original):
        def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, *arguments, **named):
            if self._leaves_unclipped():
                parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
                norm = self._guarded(limits.norm, parameters, float(norm_type))
                if norm is not None and (norm.isfinite() or not error_if_nonfinite):
                    return norm  # which the program may print
            return original(parameters, max_norm, norm_type, error_if_nonfinite, *arguments, **named)

        return clip_grad_norm_

    # -- step -------------------------------------------------------------------------------------

    def _wrap_step(self, original):
        def step(optimizer, *arguments, **named):
            # A subclass that calls super().step() makes one step.
            if self._depth or not self._is_in_force():
                return original(optimizer, *arguments, **named)
            closure = arguments[0] if arguments else named.get("closure")
            closure = closure if callable(closure) else None
            if self._guarded(self._withholds, optimizer, closure):
                loss = None
                if closure is not None:
                    with torch.enable_grad():
                        loss = closure()
                if self._is_in_force():
                    self._batch_ended()
                    self._withheld += 1
                    self._is_known = True
                    return loss
                if closure is not None:  # which has shown why not, and is not to be called again
                    arguments, named = (lambda: loss, *arguments[1:]), _without(named, "closure")
            self._depth += 1
            try:
                return original(optimizer, *arguments, **named)
            finally:
                self._depth -= 1
                self._batch_ended()
                self._withheld = self._drops = 0

        return step

    def _withholds(self, optimizer, closure):
        why = None
        if self._hook.clock.current == BACKWARD:
            why = "the optimizer steps within the backward"
        elif closure is not None:
            why = limits.why_no_closure(optimizer)
        elif not self._has_gradients:
            why = limits.NO_BACKWARD
        if why is not None:
            self._refuse(why)
        return why is None and not self._is_last()

    def _batch_ended(self):
        self._has_gradients = False
        self._silent.batch_ended()

    # -- what is told -----------------------------------------------------------------------------

    def rows(self):
        why = self._refused or self._limits.why_not()
        today = 1
        if not self.is_asked:
            today = max(1, self._hook.progress.backwards_per_step)
            why = why or self._limits.why_not_as_it_is()
        value = today if why else self._batches
        where = ["%s %s" % (site, name) for name, site in self._hook.optimizers.made]
        yield Row(_NAME, today, value, why, where=where)


def _without(named, name):
    return {key: value for key, value in named.items() if key != name}
