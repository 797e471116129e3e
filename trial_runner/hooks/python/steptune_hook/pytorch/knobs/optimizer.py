# SPDX-License-Identifier: Apache-2.0
"""Knobs for how optimizers update parameters and clear gradients."""

import inspect

import torch
from torch.optim.adagrad import Adagrad
from torch.optim.lbfgs import LBFGS
from torch.optim.sgd import SGD

from steptune_hook import call_site
from steptune_hook.events import first_line
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.pytorch.gradients import trained_by

_NAME = "optimizer_implementation"
_OWN_SET_TO_NONE = inspect.signature(torch.optim.Optimizer.zero_grad).parameters["set_to_none"].default
_SOME_LACK = "parameters get no gradient in some steps: with zeros the optimizer moves them (momentum, decay, moments), with None it does not"


class OptimizerKnobs:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = requested.get(_NAME)
        self._set_to_none = requested.get("set_to_none")
        self._today = None
        self._refused = None
        self._called_bare = False
        self._cleared_at = []  # lines that first call zero_grad
        self._explicit_set_to_none = None

    def switch(self, requested):
        self._set_to_none = requested.get("set_to_none")

    def wrap(self):
        """Wraps the constructors of classes with an argument `fused`, since the classes check this argument themselves.
        """
        if self._requested is None:
            return
        for cls in vars(torch.optim).values():
            if isinstance(cls, type) and "fused" in _parameters(cls):
                self._hook.patches.replace(cls, "__init__", self._wrap_init)

    def _wrap_init(self, original):
        def __init__(optimizer, params, *arguments, **named):
            watches = self._hook.watches_training()
            if watches and self._requested != "fused" and named.get("fused"):
                # A GradScaler would give a fused optimizer scaled gradients, which only fused kernels accept.
                self._today = self._today or "fused"
                named["fused"] = False
            if not watches or self._requested != "fused" or named.get("fused") or named.get("foreach"):
                return original(optimizer, params, *arguments, **named)
            # Make lists, because a refused attempt may have consumed an iterator.
            params = params if isinstance(params, (list, dict)) else list(params)
            groups = [group for group in params if isinstance(group, dict)]
            for group in groups:
                if hasattr(group.get("params"), "__next__"):
                    group["params"] = list(group["params"])
            changed = [(held, dict(held)) for held in (vars(optimizer), *groups)]
            try:
                return original(optimizer, params, *arguments, **dict(named, fused=True))
            except (RuntimeError, TypeError) as error:
                self._refused = first_line(error)
                # The failed attempt has left `fused` in the optimizer's and in the program's groups.
                for held, before in changed:
                    held.clear()
                    held.update(before)
                return original(optimizer, params, *arguments, **named)

        return __init__

    def defaults(self, cls, defaults):
        """Returns the defaults of an optimizer under construction, with the requested implementation."""
        if "foreach" not in defaults:
            if self._requested not in (None, "fused", "loop"):
                self._refused = "%s has one implementation only" % cls.__name__
            return defaults
        if self._today is None:
            self._today = _implementation(defaults, self._requested == "fused" and not self._refused)
        if self._requested not in ("loop", "foreach"):
            return defaults
        return dict(defaults, foreach=self._requested == "foreach")

    def zero_grad_called(self, arguments, named):
        """Returns the named arguments that replace zero_grad()'s."""
        if not self._cleared_at:
            self._cleared_at.append(call_site.where() + " zero_grad")
        if arguments or named:
            self._explicit_set_to_none = named.get("set_to_none", (arguments + (None,))[0])
            return named
        self._called_bare = True
        return {"set_to_none": self._set_to_none} if self._changes_zero_grad() else {}

    def _changes_zero_grad(self):
        return self._differs() and not self._hook.progress.received.have_lacked

    def _differs(self):
        return self._set_to_none not in (None, _OWN_SET_TO_NONE)

    def moved_by_zeros(self):
        """Returns the optimizers for which a zero gradient differs from a missing one, if the knob may change between
        the two."""
        is_tuned = self._differs() or not self._hook.is_for_good()
        if not (is_tuned and self._called_bare):
            return []
        return [optimizer for optimizer in self._hook.optimizers.alive if _is_moved_by_zeros(optimizer)]

    def gradients_lack(self, optimizer, parameters):
        """Clears gradients as the program does from now on, for these parameters already in the coming step."""
        if self._differs():
            for parameter in parameters:
                parameter.grad = torch.zeros_like(parameter) if self._set_to_none else None
        self._hook.survey_after_step()

    def needs_zero_grad(self):
        """True if calls of zero_grad must still be seen or changed."""
        return self._hook.live is not None or self._set_to_none is not None or not self._cleared_at

    def statuses(self):
        alive = list(self._hook.optimizers.alive)
        implementations = {_implementation(optimizer.defaults) for optimizer in alive}
        where = ["%s %s" % (site, name) for name, site in self._hook.optimizers.made]
        yield self._implementation_row(alive, implementations, where)
        explicit = self._explicit_set_to_none
        if explicit is not None and not self._called_bare:
            why = "the program sets it itself" if alive else "no optimizer"
            yield KnobStatus("set_to_none", today=explicit, value=explicit, why=why, where=self._cleared_at)
            return
        why = "no optimizer"
        if alive:
            why = None if self._called_bare else "Optimizer.zero_grad is not called"
        if self._hook.progress.received.have_lacked:
            why = _SOME_LACK
        value = self._set_to_none if why is None else _OWN_SET_TO_NONE
        yield KnobStatus("set_to_none", today=_OWN_SET_TO_NONE, value=value, why=why, where=self._cleared_at)

    def _implementation_row(self, alive, implementations, where):
        if not alive:
            return KnobStatus(_NAME, why="no optimizer", where=where)
        known = [o for o in alive if "foreach" in o.defaults]
        if not known:
            return KnobStatus(_NAME, why="this optimizer has one implementation only", where=where)
        choices = ["loop", "foreach"]
        with self._hook.aside():
            if all(_may_be_fused(optimizer) for optimizer in known):
                choices.append("fused")
        now = _implementation(known[0].defaults)
        today = self._today if self._requested is not None and self._today is not None else now
        return KnobStatus(_NAME, today=today, value=now, why=self._refused, choices=choices, where=where)


def _implementation(defaults, fused_is_ours=False):
    if defaults.get("fused") and not fused_is_ours:
        return "fused"
    if defaults.get("foreach") is None:
        # None leaves the choice to PyTorch: foreach on a GPU from 2.0 on (which added torch.compile).
        lists = hasattr(torch, "compile") and torch.cuda.is_available()
        return "foreach" if lists else "loop"
    return "foreach" if defaults["foreach"] else "loop"


def _is_moved_by_zeros(optimizer):
    cls, groups = type(optimizer), optimizer.param_groups
    if cls is SGD:
        return any(group["momentum"] or group["weight_decay"] for group in groups)
    if cls is Adagrad:
        return any(group["weight_decay"] or group["lr_decay"] for group in groups)
    return cls is not LBFGS  # LBFGS treats missing gradients as zeros


def _may_be_fused(optimizer):
    """Tries a small optimizer of the same class, since the available kernels differ between versions."""
    cls = type(optimizer)
    if "fused" not in _parameters(cls):
        return False
    devices = {p.device for p in trained_by([optimizer])}
    try:
        for device in devices:
            cls([torch.zeros(1, device=device, requires_grad=True)], lr=0.1, fused=True)
    except (RuntimeError, TypeError):
        return False
    return True


def _parameters(cls):
    try:
        return inspect.signature(cls.__init__).parameters
    except (TypeError, ValueError):
        return {}
