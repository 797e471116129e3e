# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose state is divided among the ranks (ZeRO, Rajbhandari et al. 2020, stage 1), by
PyTorch's ZeroRedundancyOptimizer."""

import torch


def is_sharded(optimizer):
    return getattr(optimizer, "steptune_sharded", False)


def inner(optimizer):
    """The one that steps this rank's part, where it is divided; else itself."""
    return optimizer.optim if is_sharded(optimizer) else optimizer


def release_process_group(optimizer):
    """It will not step again."""
    if is_sharded(optimizer):
        optimizer.process_group = None


def sharded_classes(hook):
    """By name: what stands for each optimizer of torch.optim. Made, it is a ZeroRedundancyOptimizer;
    `isinstance` and subclasses see the class that it stands for."""
    from torch.distributed.optim import ZeroRedundancyOptimizer

    class Sharded(ZeroRedundancyOptimizer):
        steptune_sharded = True

        def state_dict(self):
            """Whole, as the program expects it."""
            advice = "ask for it on all ranks (torch.save writes on rank 0 alone), or use ddp"
            hook.knobs.strategy.gathering.of_all("the state of the optimizer, which all ranks have a part of,", advice)
            with hook.aside():
                self.consolidate_state_dict(to=0)
                states = [super().state_dict() if torch.distributed.get_rank() == 0 else None]
                torch.distributed.broadcast_object_list(states, src=0)
            return states[0]

    Sharded.__name__ = ZeroRedundancyOptimizer.__name__
    return {
        name: _stand_in(hook, cls, Sharded)
        for name, cls in vars(torch.optim).items()
        if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer) and _can_be_sharded(cls)
    }


def _can_be_sharded(cls):
    # One that is called with a closure several times a step asks for all parameters at once.
    return cls is not torch.optim.Optimizer and cls.__name__ != "LBFGS"


def _stand_in(hook, cls, sharded):
    class StandIn(type(cls)):
        def __call__(self, *arguments, **named):
            # What a class of the program's own takes may have other names.
            is_asked = self is stand_in and hook.watches() and (arguments or "params" in named)
            if not is_asked:
                return super().__call__(*arguments, **named)
            params, arguments = (arguments[0], arguments[1:]) if arguments else (named.pop("params"), ())
            params, parameters = _read_once(params)
            if not hook.knobs.strategy.begin(parameters):
                return super().__call__(params, *arguments, **named)
            named = dict(zip(_names_after_params(cls), arguments), **named)
            with hook.optimizers.as_one():
                return sharded(params, optimizer_class=cls, **named)

        def __instancecheck__(self, instance):
            if self is not stand_in:  # a class of the program's own
                return super().__instancecheck__(instance)
            return isinstance(inner(instance), cls)

        def __subclasscheck__(self, other):
            return issubclass(other, cls) if self is stand_in else super().__subclasscheck__(other)

    stand_in = StandIn(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": cls.__doc__})
    return stand_in


def _read_once(params):
    """Parameters or groups of them, whose iterators can be read again, and all parameters."""
    params = list(params)
    if not params or not isinstance(params[0], dict):
        return params, params
    groups = []
    for group in params:
        of_group = group["params"]
        groups.append(dict(group, params=[of_group] if torch.is_tensor(of_group) else list(of_group)))
    return groups, [p for group in groups for p in group["params"]]


def _names_after_params(cls):
    import inspect

    return list(inspect.signature(cls.__init__).parameters)[2:]

