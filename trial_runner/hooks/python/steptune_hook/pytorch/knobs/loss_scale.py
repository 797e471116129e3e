# SPDX-License-Identifier: Apache-2.0
"""Scales the loss. Without scaling, many gradients of fp16 are zero (Micikevicius et al. 2018). The factor changes, and
steps are skipped, as in torch.amp.GradScaler. One thing differs: a gradient has its true size when it reaches its
parameter. The program can therefore add up, clip and print it as before."""

import sys
import traceback
import weakref

import torch

from steptune_hook.patches import PickledByValue
from steptune_hook.pytorch.gradients import trained_by
from steptune_hook.pytorch.knobs import scaled_gradients, scaling_limits

_STEPS_TO_LOOK = 3  # backwards of these steps show which tensors the program's backwards reach
_MOST_LOOKS = 64
_AFTER_LOSS = ("grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")


class Skipped:
    """Result of a skipped step. `value` is the result that the program gets: the closure's loss or None."""

    def __init__(self, value):
        self.value = value


class _Step(PickledByValue):
    def __init__(self, loss_scale, original):
        self._loss_scale = loss_scale
        self._original = original

    def __call__(self, optimizer, *arguments, **named):
        return self._loss_scale.step(self._original, optimizer, arguments, named)


class LossScale:
    def __init__(self, hook, is_asked):
        self._hook = hook
        self._is_asked = is_asked
        self.factor = scaled_gradients.ScaleFactor()
        self._unscaling = scaled_gradients.Unscaling()
        self._finite = scaled_gradients.FiniteGradients()
        self._refused = None
        self._has_begun = False  # True after a forward in fp16
        self._admitted = weakref.WeakSet()  # outermost modules
        # Optimizers whose gradients may still come from scaled losses after a refusal.
        self._still_checked = weakref.WeakSet()
        self._looks = 0

    def wrap(self):
        if not self._is_asked:
            return
        patches = self._hook.patches
        patches.replace(torch.autograd, "backward", self._wrap_backward)
        patches.replace(torch.autograd, "grad", self._wrap_grad)
        for name in ("register_hook", "retain_grad"):
            patches.replace(torch.Tensor, name, self._wrap_look)
        for owner in (torch.nn.utils.clip_grad, torch.nn.utils):
            patches.replace(owner, "clip_grad_norm_", self._wrap_clip)

    def why_not(self):
        """Returns why this program may not be trained in fp16 now; None if it may."""
        if self._refused is not None or not self._hook.optimizers.alive:
            return self._refused or "no optimizer makes steps: fp16 must skip steps whose gradients are not finite"
        return None

    def refuse(self, why):
        """Stops scaling from the next forward and the next backward on."""
        if self._refused is None:
            self._refused = why
            if self._has_begun:
                self._still_checked.update(self._hook.optimizers.alive)
            self._hook.survey_after_step()

    def admits(self, module, inputs, named):
        """True if this forward of an outermost module may run in fp16."""
        if not torch.is_grad_enabled():
            return True
        try:
            if module not in self._admitted:
                why = scaling_limits.why_not(self._hook, module)
                if why is not None:
                    self.refuse(why)
                self._admitted.add(module)
            if any(_is_plain_leaf(value) for value in (*inputs, *named.values())):
                self.refuse(scaling_limits.OTHER_LEAF)
        except Exception as error:
            self._hook.failed(error)
            return False
        self._has_begun = self._has_begun or self._refused is None
        return self._refused is None

    def _is_active(self):
        return self._has_begun and self._refused is None and self._hook.watches()

    def _wrap_backward(self, original):
        unscaling = self._unscaling

        def backward(tensors, *arguments, **named):
            if unscaling.inverse is not None or not self._is_active():
                # A backward within another one (of a checkpoint, for example) may run in one of autograd's threads on a
                # GPU.
                if self._has_begun and scaling_limits.is_other_thread(self._hook):
                    self.refuse("several threads train at once")
                return original(tensors, *arguments, **named)
            try:
                named = dict(zip(_AFTER_LOSS, arguments), **named)
                scaled = self._scaled_seeds(tensors, named)
            except Exception as error:
                self._hook.failed(error)
                scaled = None
            if scaled is None:
                return original(tensors, **named)
            unscaling.inverse = 1.0 / self.factor.value
            try:
                return original(tensors, **dict(named, grad_tensors=scaled))
            finally:
                unscaling.inverse = None

        return backward

    def _scaled_seeds(self, tensors, named):
        """Returns the scaled gradients from which this backward starts; None if it must not be scaled."""
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        why = scaling_limits.why_no_backward(named)
        if why is not None:
            self.refuse(why)
            return None
        given = named.get("grad_tensors")
        if named.get("grad_variables") is not None or not all(isinstance(root, torch.Tensor) for root in roots):
            return None
        self._cover(roots)
        self.factor.backward_begins()
        with torch.no_grad():
            return scaled_gradients.seeds(roots, given, self.factor.value)

    def _cover(self, roots):
        unscaling = self._unscaling
        hook = self._hook
        for parameter in trained_by(hook.optimizers.alive):
            if parameter.requires_grad and not unscaling.covers(parameter):
                unscaling.cover(parameter)
        if hook.progress.steps >= _STEPS_TO_LOOK or self._looks >= _MOST_LOOKS:
            return
        self._looks += 1
        for module in list(hook.modules.roots):
            for parameter in module.parameters():
                if parameter.requires_grad and not unscaling.covers(parameter):
                    unscaling.cover(parameter)
        leaves = scaled_gradients.leaves_of(roots)
        for leaf in leaves:
            if not unscaling.covers(leaf):
                unscaling.cover(leaf)
                if _is_plain_leaf(leaf) and hook.progress.steps > 0:
                    self.refuse(scaling_limits.OTHER_LEAF)  # the program makes a new leaf in each step
        why = scaling_limits.why_not_reached(hook, leaves)
        if why is not None:
            self.refuse(why)

    def _wrap_grad(self, original):
        def grad(*arguments, **named):
            if self._is_active() and not _is_tracing():
                self.refuse("the program takes gradients by torch.autograd.grad, which would not be scaled")
            return original(*arguments, **named)

        return grad

    def _wrap_look(self, original):
        def look(tensor, *arguments, **named):
            if self._is_active() and tensor.requires_grad and not tensor.is_leaf:
                self.refuse(scaling_limits.LOOKS_WITHIN)
            return original(tensor, *arguments, **named)

        return look

    def _wrap_clip(self, original):
        def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, *arguments, **named):
            if error_if_nonfinite and self._is_active():
                self.refuse("the program ends if the norm of gradients is not finite, and the norm of a scaled loss may be infinite")
                error_if_nonfinite = False  # the hook skips the step instead
            return original(parameters, max_norm, norm_type, error_if_nonfinite, *arguments, **named)

        return clip_grad_norm_

    def program_scales_loss(self):
        if self._is_asked and self._hook.watches():
            self.refuse("the program has a GradScaler itself")

    def around_step(self, original):
        """Returns a replacement of an optimizer's step `original`. The replacement may return `Skipped`. If nothing is
        scaled, returns `original`."""
        return _Step(self, original) if self._is_asked else original

    def step(self, original, optimizer, arguments, named):
        if self._refused is not None and optimizer not in self._still_checked:
            return original(optimizer, *arguments, **named)
        closure = arguments[0] if arguments else named.get("closure")
        loss = None
        if callable(closure):
            if not scaling_limits.calls_once(optimizer):
                self.refuse(scaling_limits.SEVERAL_CALLS % type(optimizer).__name__)
                return original(optimizer, *arguments, **named)
            with torch.enable_grad():
                loss = closure()  # its gradients are checked before the step

            def closure():
                return loss

            if arguments:
                arguments = (closure, *arguments[1:])
            else:
                named = dict(named, closure=closure)
        return original(optimizer, *arguments, **named) if self._may_step(optimizer) else Skipped(loss)

    def _may_step(self, optimizer):
        if not self._has_begun:
            return True
        try:
            if self._unscaling.inverse is not None:
                self.refuse("an optimizer steps within the backward")
            parameters = trained_by([optimizer])
            are_finite = self._finite.are_all(p.grad for p in parameters if p.grad is not None)
            self.factor.stepped(optimizer, are_finite)
            if self._refused is not None and self._unscaling.inverse is None:
                self._still_checked.discard(optimizer)
                if not self._still_checked:
                    self._unscaling.release()
            return are_finite
        except Exception as error:
            self._hook.failed(error)
            return True


def _is_tracing():
    """True while torch.compile traces, which computes no gradients."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_stack(sys._getframe(1)))
    return any("_aot_autograd" in name for name in names)


def _is_plain_leaf(value):
    is_leaf = isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf
    return is_leaf and not isinstance(value, torch.nn.Parameter)
