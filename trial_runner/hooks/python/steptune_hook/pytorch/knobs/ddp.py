# SPDX-License-Identifier: Apache-2.0
"""Arguments of DistributedDataParallel."""

import inspect
import weakref

import torch

from steptune_hook import call_site
from steptune_hook.knobs.settled import SettledKnobs

_ARGUMENTS = {
    "ddp_bucket_cap_mb": "bucket_cap_mb",
    "ddp_gradient_as_bucket_view": "gradient_as_bucket_view",
    "ddp_static_graph": "static_graph",
}


class DdpKnobs:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = requested
        self._settled = SettledKnobs(requested)
        self.made = weakref.WeakSet()
        self._where = []

    def wrap(self):
        self._hook.patches.replace(torch.nn.parallel.DistributedDataParallel, "__init__", self._wrap_init)

    def _wrap_init(self, original):
        signature = inspect.signature(original)

        def __init__(ddp, *arguments, **named):
            changed = None
            if self._hook.active:
                changed = self._hook.guarded(self._changed, signature, ddp, arguments, named)
            original(ddp, *arguments, **(changed or named))
            self.made.add(ddp)

        return __init__

    def _changed(self, signature, ddp, arguments, named):
        bound = signature.bind_partial(ddp, *arguments, **named)
        if not self._hook.knobs.strategy.is_wrapping():
            self._where.append(call_site.where() + " DistributedDataParallel")
            self._hook.knobs.strategy.program_wraps("ddp")
        changed = dict(named)
        for name, argument in _ARGUMENTS.items():
            today = bound.arguments.get(argument, signature.parameters[argument].default)
            if today is None:
                today = 25 if argument == "bucket_cap_mb" else False  # PyTorch's meaning of None; 25 MiB
            has_no_name = argument in bound.arguments and argument not in named
            why = "the program gives it without its name" if has_no_name and name in self._requested else None
            value = self._settled.settle(name, today, why)
            if value is not None:
                changed[argument] = value
        return changed

    def statuses(self):
        for status in self._settled.statuses((name, "no DistributedDataParallel") for name in _ARGUMENTS):
            status.where = list(self._where)
            yield status
