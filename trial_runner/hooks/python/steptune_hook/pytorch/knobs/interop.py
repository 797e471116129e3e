# SPDX-License-Identifier: Apache-2.0
"""Number of threads between operations. PyTorch allows setting it only once, before any work. A second attempt ends the
process. So if the tuner has set it, the program's own call is ignored."""

import torch

from steptune_hook import call_site
from steptune_hook.knobs.knob_status import KnobStatus

_NAME = "num_interop_threads"


class InteropThreadsKnob:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = requested.get(_NAME)
        self._today = None
        self._where = []

    def wrap(self):
        original = self._hook.patches.replace(torch, "set_" + _NAME, self._wrap_set)
        if self._requested is not None:
            self._today = torch.get_num_interop_threads()
            original(self._requested)
            self._hook.patches.keep(torch, "set_" + _NAME)

    def _wrap_set(self, original):
        def set_num_interop_threads(count):
            self._where = [call_site.where() + " set_" + _NAME]
            if self._requested is None:
                return original(count)
            self._today = count
            return None

        return set_num_interop_threads

    def statuses(self):
        now = torch.get_num_interop_threads()
        yield KnobStatus(_NAME, today=self._today or now, value=now, where=self._where)
