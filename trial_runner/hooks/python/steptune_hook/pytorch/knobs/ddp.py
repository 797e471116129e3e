# SPDX-License-Identifier: Apache-2.0
"""Arguments of DistributedDataParallel."""

import inspect
import weakref

import torch

from steptune_hook import call_site
from steptune_hook.knobs.knob_status import KnobStatus

_ARGUMENTS = {
    "ddp_bucket_cap_mb": "bucket_cap_mb",
    "ddp_gradient_as_bucket_view": "gradient_as_bucket_view",
    "ddp_static_graph": "static_graph",
}


class DdpKnobs:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = {
            argument: requested[name] for name, argument in _ARGUMENTS.items() if name in requested
        }
        self.made = weakref.WeakSet()
        self._seen = False
        self._where = []
        self._today = {}
        self._now = {}
        self._missing = set()

    def wrap(self):
        ddp = getattr(torch.nn.parallel, "DistributedDataParallel", None)
        if ddp is not None:
            self._hook.patches.replace(ddp, "__init__", self._wrap_init)

    def _wrap_init(self, original):
        signature = inspect.signature(original)

        def __init__(ddp, *arguments, **named):
            changed = named
            if self._hook.active:
                try:
                    changed = self._changed(signature.bind_partial(ddp, *arguments, **named), named)
                except Exception as error:
                    self._hook.failed(error)
            original(ddp, *arguments, **changed)
            self.made.add(ddp)

        def _parameter_default(argument):
            parameter = signature.parameters.get(argument)
            return None if parameter is None else parameter.default

        self._default = _parameter_default
        return __init__

    def _changed(self, bound, named):
        self._seen = True
        if not self._hook.knobs.strategy.is_wrapping():
            self._where.append(call_site.where() + " DistributedDataParallel")
            self._hook.knobs.strategy.program_wraps("ddp")
        for argument in _ARGUMENTS.values():
            today = bound.arguments.get(argument, self._default(argument))
            if today is None and argument == "bucket_cap_mb":
                today = 25  # MiB, PyTorch's meaning of None
            self._today[argument] = self._now[argument] = today
            if self._default(argument) is inspect.Parameter.empty or today is None:
                self._missing.add(argument)
        wanted = {
            argument: value
            for argument, value in self._requested.items()
            if argument not in self._missing
            and (argument in named or argument not in bound.arguments)
        }
        self._now.update(wanted)
        return dict(named, **wanted)

    def statuses(self):
        for name, argument in _ARGUMENTS.items():
            why = None
            if not self._seen:
                why = "no DistributedDataParallel"
            elif argument in self._missing:
                why = "this PyTorch does not have it"
            today, now = self._today.get(argument), self._now.get(argument)
            yield KnobStatus(name, today=today, value=now, why=why, where=self._where)
