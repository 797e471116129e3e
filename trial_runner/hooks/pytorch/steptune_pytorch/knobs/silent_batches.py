# SPDX-License-Identifier: Apache-2.0
"""Ranks of DistributedDataParallel communicate in the last batch of a step alone, as with its `no_sync`."""

import torch

from steptune_pytorch.modules import begin_no_graph_at


class SilentBatches:
    """`why_communicate()` of a batch whose forward begins: None where ranks need not, a reason that `refuse` is told, or
    an empty text."""

    def __init__(self, hook, why_communicate, refuse):
        self._hook = hook
        self._why_communicate = why_communicate
        self._refuse = refuse
        self._silenced = []

    def wrap(self, patches):
        parallel = getattr(torch.nn.parallel, "DistributedDataParallel", None)
        if parallel is not None and torch.distributed.is_available():
            patches.replace(parallel, "forward", self._wrap_forward)

    def _wrap_forward(self, original):
        hook = self._hook

        def forward(parallel, *inputs, **named):
            # Before it, as the forward prepares what the backward communicates.
            if torch.is_grad_enabled() and hook.watches():
                try:
                    self._begin(parallel)
                except Exception as error:
                    hook.failed(error)
            return original(parallel, *inputs, **named)

        begin_no_graph_at(forward)
        return forward

    def _begin(self, parallel):
        is_ours = any(silenced is parallel for silenced in self._silenced)
        why = self._why_communicate()
        if not why and not is_ours and not parallel.require_backward_grad_sync:
            why = "the program accumulates itself (no_sync): tune the option that it has for it"
        if why:
            self._refuse(why, may_communicate=True)
        if why is None and not is_ours and not _must_communicate(parallel):
            parallel.require_backward_grad_sync = False
            self._silenced.append(parallel)

    def batch_ended(self):
        """What is asked of it from now on is the program's own, until the next forward. True if the batch was silent."""
        was_silent = bool(self._silenced)
        while self._silenced:
            self._silenced.pop().require_backward_grad_sync = True
        return was_silent


def _must_communicate(parallel):
    """A gradient that the last batch does not reach would stay each rank's own, and a static graph is learnt from the
    first batch. Where ranks communicate in each batch they sum up the same."""
    is_uneven = getattr(getattr(parallel, "_join_config", None), "enable", False)
    return parallel.find_unused_parameters or getattr(parallel, "static_graph", False) or is_uneven
