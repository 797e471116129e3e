# SPDX-License-Identifier: Apache-2.0
"""Wraps torch.autograd.backward, which Tensor.backward calls, and the scaling of losses before it."""

import weakref
from threading import get_ident
from time import perf_counter

import torch

from steptune_hook.part_clock import BACKWARD, OTHER, PREPARE
from steptune_hook.patches import PickledByValue

MOST_BACKWARDS = 10000  # most backwards of a step whose loss is reported


class _ScaledLosses(PickledByValue):
    """`unscaled`: by id of a scaled loss that still exists, a reference to it and the original loss."""

    _attributes_of_stand_in = {"are_watched": False}

    def __init__(self, hook):
        self.are_watched = True
        self.unscaled = {}
        self._hook = hook

    def note(self, given, scaled):
        """Called after a scaler has scaled one loss or several."""
        if scaled is not given:
            self._hook.guarded(self._note, given, scaled)

    def _note(self, given, scaled):
        self._hook.knobs.forward.loss_scale.program_scales_loss()
        are_several = isinstance(given, (list, tuple))
        for loss, of_scaler in zip(given, scaled) if are_several else [(given, scaled)]:
            # A subclass may return anything.
            if isinstance(loss, torch.Tensor) and isinstance(of_scaler, torch.Tensor):
                self._remember(loss, of_scaler)

    def _remember(self, loss, scaled):
        unscaled, key = self.unscaled, id(scaled)
        unscaled[key] = (weakref.ref(scaled, lambda _: unscaled.pop(key, None)), loss.detach())


def wrap(hook):
    losses = _ScaledLosses(hook)
    unscaled = losses.unscaled

    def wrap_backward(original):
        def backward(tensors, *arguments, **named):
            clock = hook.clock
            if clock.current == BACKWARD:
                return original(tensors, *arguments, **named)
            if not (hook.active and get_ident() == hook.thread) and not hook.watches_training():
                return original(tensors, *arguments, **named)
            now_s = perf_counter()
            before = clock.current
            if before == PREPARE:
                before = OTHER  # no forward was seen since the batch, so not all of the time was preparation
            clock.totals_s[before] += now_s - clock.now_s
            clock.now_s = now_s
            clock.current = BACKWARD
            roots = ()
            progress = hook.progress
            is_plain = False
            try:
                if type(tensors) is torch.Tensor and not unscaled:
                    is_plain = (
                        progress.is_plain
                        and progress.training_forwards > 0
                        and (progress.backwards > 0 or progress.steps < progress.look_step)
                    )
                    if tensors.numel() == 1 and not tensors.is_complex():
                        roots = (tensors.detach(),)
                else:
                    if not isinstance(tensors, (torch.Tensor, list, tuple)):
                        tensors = tuple(tensors)  # an iterator can be read only once
                    roots = _roots(tensors, unscaled)
                if not is_plain:
                    progress.backward_begins()
                    if hook.settings.mode == "survey":
                        hook.knobs.process.backward_begins(_listed(tensors))
                    if hook.knobs.strategy.is_asked:
                        hook.knobs.strategy.backward_begins()
            except Exception as error:
                hook.failed(error)
            if progress.backwards < MOST_BACKWARDS:
                progress.loss_roots.extend(roots)  # the optimizer may step within the backward
            else:
                # A program may run backwards without steps (attacks, say); do not keep their losses forever.
                del progress.loss_roots[:]
            try:
                return original(tensors, *arguments, **named)
            except RuntimeError as error:
                hook.knobs.strategy.backward_failed(error)
                raise
            finally:
                now_s = perf_counter()
                clock.totals_s[clock.current] += now_s - clock.now_s
                clock.now_s = now_s
                clock.current = before
                if is_plain and progress.training_forwards > 0:  # otherwise the optimizer stepped within the backward
                    progress.backwards += 1
                    progress.forwards_before_backward = progress.training_forwards
                else:
                    if hook.knobs.strategy.is_asked:
                        hook.guarded(hook.knobs.strategy.backward_ended)
                    hook.guarded(progress.backward_ended)

        return backward

    def wrap_scale(original):
        def scale(scaler, *arguments, **named):
            scaled = original(scaler, *arguments, **named)
            if losses.are_watched:
                losses.note(next(iter((*arguments, *named.values())), None), scaled)
            return scaled

        return scale

    def wrap_scaler_init(original):
        def __init__(scaler, *arguments, **named):
            original(scaler, *arguments, **named)
            # A subclass such as FSDP's ShardedGradScaler may scale by itself.
            owner = next(cls for cls in type(scaler).__mro__ if "scale" in cls.__dict__)
            if hook.active and not hook.patches.is_replaced(owner, "scale"):
                hook.guarded(hook.patches.replace, owner, "scale", wrap_scale)

        return __init__

    def wrap_scaler_step(original):
        def step(scaler, optimizer, *arguments, **named):
            if not hook.watches():
                return original(scaler, optimizer, *arguments, **named)
            before = hook.optimizers.calls
            returned = original(scaler, optimizer, *arguments, **named)
            if hook.optimizers.calls == before:
                hook.guarded(hook.progress.step_skipped)
            return returned

        return step

    hook.patches.replace(torch.autograd, "backward", wrap_backward)
    # From 2.3 on, that of torch.cuda.amp is a subclass of that of torch.amp.
    scaler = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)
    hook.patches.replace(scaler, "__init__", wrap_scaler_init)
    hook.patches.replace(scaler, "scale", wrap_scale)
    hook.patches.replace(scaler, "step", wrap_scaler_step)


def _listed(tensors):
    return (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)


def _roots(tensors, unscaled):
    return [
        unscaled.get(id(root), (None, root))[1].detach()
        for root in _listed(tensors)
        if isinstance(root, torch.Tensor) and root.numel() == 1 and not root.is_complex()
    ]
