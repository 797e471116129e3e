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
        self._requested = {argument: requested[name] for name, argument in _ARGUMENTS.items() if name in requested}
        self.made = weakref.WeakSet()
        self._seen = False
        self._where = []
        self._today = {}
        self._now = {}
        self._missing = set()

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
        """Returns the named arguments with the requested ones."""
        bound = signature.bind_partial(ddp, *arguments, **named)
        self._seen = True
        if not self._hook.knobs.strategy.is_wrapping():
            self._where.append(call_site.where() + " DistributedDataParallel")
            self._hook.knobs.strategy.program_wraps("ddp")
        for argument in _ARGUMENTS.values():
            known = signature.parameters.get(argument)
            today = bound.arguments.get(argument, known and known.default)
            if today is None and argument == "bucket_cap_mb":
                today = 25  # MiB, PyTorch's meaning of None
            self._today[argument] = self._now[argument] = today
            if today is None or today is inspect.Parameter.empty:
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
