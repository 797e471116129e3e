# SPDX-License-Identifier: Apache-2.0
"""Programs whose steps cannot be left out from outside, and what is computed of gradients meanwhile."""

import weakref

import torch

from steptune_pytorch.gradients import Witness, trained_by
from steptune_pytorch.knobs.closures import SEVERAL_CALLS, calls_once
from steptune_pytorch.modules import is_sharded

SEVERAL_BACKWARDS = "the program accumulates itself, or has several losses a step: tune the option that it has for it"
NO_BACKWARD = "no backward is seen before a step"
SCALER = "a GradScaler looks at the gradients of each batch"


class Limits:
    def __init__(self, hook):
        self._hook = hook
        self._known = weakref.WeakSet()  # outermost modules that may be trained so
        self.scales = False  # by a GradScaler

    def why_not(self):
        alive = list(self._hook.optimizers.alive)
        if not alive:
            return "no optimizer makes steps"
        if any(type(optimizer).__name__ == "ZeroRedundancyOptimizer" for optimizer in alive):
            return "a ZeroRedundancyOptimizer divides its steps among the ranks"
        if len(alive) > 1:
            return "several optimizers make steps"
        if self._hook.knobs.strategy.is_on():
            return "distributed_strategy averages the gradients of each batch"
        if hasattr(alive[0], "synchronize"):  # Horovod's
            return "%s averages the gradients of each batch" % type(alive[0]).__name__
        if self.scales:
            return SCALER
        for root in list(self._hook.modules.roots):
            if root not in self._known:
                why = _why_not_module(root)
                if why is not None:
                    return why
                self._known.add(root)
        return None

    def why_not_as_it_is(self):
        """Of a program whose steps are all made."""
        why = None
        if self._hook.optimizers.closure:
            why = next(filter(None, map(why_no_closure, self._hook.optimizers.alive)), None)
        progress = self._hook.progress
        if why is None and progress.steps and progress.backwards_per_step != 1:
            why = SEVERAL_BACKWARDS if progress.backwards_per_step > 1 else NO_BACKWARD
        return why


def _why_not_module(root):
    if is_sharded(root):
        return "the model is sharded (FSDP), and communicates in each batch"
    for module in root.modules():
        if any(cls.__name__ == "DeepSpeedEngine" for cls in type(module).__mro__):
            return "DeepSpeed makes the steps: gradient_accumulation_steps of its configuration"
    return None


def why_no_closure(optimizer):
    return None if calls_once(optimizer) else SEVERAL_CALLS % type(optimizer).__name__


def gradients_of(hook):
    return [p.grad for p in trained_by(hook.optimizers.alive) if p.grad is not None]


def witness(hook):
    parameter = next((p for p in trained_by(hook.optimizers.alive) if p.grad is not None), None)
    return None if parameter is None else Witness(parameter)


def is_trained(hook, module):
    """By the optimizer: gradients of other modules are no step's."""
    first = next((p for p in module.parameters() if p.requires_grad), None)
    return first is not None and any(p is first for p in trained_by(hook.optimizers.alive))


def norm(parameters, norm_type):
    """Of their gradients together, which are not written to."""
    gradients = [p.grad.detach() for p in parameters if p.grad is not None]
    if not gradients:
        return torch.tensor(0.0)
    dense = [g.coalesce()._values() if g.is_sparse else g for g in gradients]
    norms = [torch.linalg.vector_norm(g, norm_type).to(dense[0].device) for g in dense]
    return torch.linalg.vector_norm(torch.stack(norms), norm_type)
