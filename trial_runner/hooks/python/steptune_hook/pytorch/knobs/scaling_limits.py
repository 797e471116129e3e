# SPDX-License-Identifier: Apache-2.0
"""Finds programs whose loss cannot be scaled from outside."""

import inspect
import threading

import torch

from steptune_hook import ranks
from steptune_hook.pytorch.gradients import trained_by
from steptune_hook.pytorch.modules import is_sharded

LOOKS_WITHIN = "the program looks at gradients within the model, which would be scaled"
OTHER_LEAF = "the program takes gradients of tensors that are no parameters, which would be scaled"
SEVERAL_CALLS = "%s may call its closure several times a step"
_PLAIN = (torch.nn.Parameter, torch.Tensor)


def why_not(hook, module):
    """Returns why a loss of this outermost module cannot be scaled; None if it can."""
    parts = list(module.modules())
    if is_sharded(module):
        return "FullyShardedDataParallel divides the parameters: gradients reach none that could be unscaled"
    if any(part._backward_hooks or getattr(part, "_backward_pre_hooks", None) for part in parts):
        return LOOKS_WITHIN
    alive = list(hook.optimizers.alive)
    if any(isinstance(optimizer, torch.optim.LBFGS) for optimizer in alive):
        return "LBFGS calls its closure several times a step"
    return _why_no_parameters([*module.parameters(), *trained_by(alive)]) or _why_not_together(hook)


def _why_no_parameters(parameters):
    for parameter in parameters:
        if type(parameter) not in _PLAIN:
            return "parameters are of the class %s" % type(parameter).__name__
        if parameter.is_complex() or (parameter.is_floating_point() and parameter.dtype != torch.float32):
            return "parameters are %s" % str(parameter.dtype).replace("torch.", "")
    return None


def _why_not_together(hook):
    is_averaged = ranks.together() == 1 or hook.knobs.strategy.is_one_training() or _parallel(hook)
    return None if is_averaged else "ranks that do not average gradients by DistributedDataParallel would skip different steps"


def why_not_reached(hook, leaves):
    """Returns why a backward that reaches these tensors cannot be scaled; None if it can."""
    why = _why_no_parameters(leaves)
    if why is None and ranks.together() > 1 and not hook.knobs.strategy.is_one_training():
        averaged = {id(p) for module in _parallel(hook) for p in module.parameters()}
        trained = {id(p) for p in trained_by(hook.optimizers.alive)}
        if any(id(leaf) in trained and id(leaf) not in averaged for leaf in leaves):
            return "an optimizer trains parameters outside DistributedDataParallel, whose gradients differ between ranks"
    return why


def _parallel(hook):
    """Returns the outermost modules whose gradients are equal on all ranks."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    return [
        root
        for root in list(hook.modules.roots)
        if isinstance(root, DistributedDataParallel)
        and distributed.get_world_size(root.process_group) == ranks.together()
    ]


def is_other_thread(hook):
    """True in another thread of Python, but not in one of autograd's."""
    is_other = hook.active and threading.get_ident() != hook.thread
    return is_other and not isinstance(threading.current_thread(), threading._DummyThread)


def why_no_backward(named):
    if named.get("create_graph"):
        return "the program differentiates gradients once more (create_graph)"
    if named.get("inputs") is not None:
        return "the program calls backward for some tensors alone (inputs)"
    if torch.is_anomaly_enabled():
        return "the program detects anomalies: gradients of a scaled loss that are not finite would end it"
    return None


def calls_once(optimizer):
    """True if the optimizer is known to call its closure once: all of PyTorch's own, except for LBFGS."""
    known = [cls for cls in vars(torch.optim).values() if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)]
    steps = {inspect.unwrap(cls.step) for cls in known if not issubclass(cls, torch.optim.LBFGS)}
    return inspect.unwrap(type(optimizer).step) in steps
