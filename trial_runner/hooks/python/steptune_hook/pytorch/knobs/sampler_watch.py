# SPDX-License-Identifier: Apache-2.0
"""Detects samplers that draw random numbers while they are read. Workers read ahead. So another number of workers would
change the program's other draws."""

import weakref

from torch.utils.data import dataloader

from steptune_hook.pytorch.knobs.random_state import snapshot

_WATCHED_DRAWS = 8
_READ_AHEAD = ("num_workers", "prefetch_factor")
_DRAWS = "the sampler draws random numbers while it is read: the order of samples would change"


class SamplerWatch:
    def __init__(self, hook):
        self._hook = hook
        self._watched = weakref.WeakKeyDictionary()  # facts by index sampler
        self._seen = weakref.WeakKeyDictionary()  # reads by iterator
        self._in_pass = weakref.WeakKeyDictionary()  # batches of a pass, by iterator with many reads

    def watch(self, loader, facts):
        """Watches the loader's sampler. Leaves out PyTorch's own samplers, which draw only one seed at their start."""
        samplers = [loader.sampler, facts.shared.whole if facts.shared else loader.batch_sampler]
        own = all(s is None or type(s).__module__.startswith("torch.") for s in samplers)
        if own or isinstance(loader._index_sampler, (list, tuple)):
            return
        self._watched[loader._index_sampler] = facts
        if not self._hook.patches.is_replaced(dataloader._BaseDataLoaderIter, "_next_index"):
            self._hook.patches.replace(dataloader._BaseDataLoaderIter, "_next_index", self._wrap)

    def _wrap(self, original):
        def _next_index(iterator):
            facts = self._watched.get(iterator._index_sampler)
            if facts is None:
                return original(iterator)
            seen = self._seen.get(iterator, 0)
            self._seen[iterator] = seen + 1
            if seen == _WATCHED_DRAWS:
                self._in_pass[iterator] = facts.batches_in_pass()
            # At this index, a sampler without an end draws the order of its next pass.
            if seen >= _WATCHED_DRAWS and seen != self._in_pass.get(iterator):
                return original(iterator)
            if seen == 0:  # the order of the pass is drawn here
                return original(iterator)
            before = snapshot()
            try:
                return original(iterator)
            finally:
                if snapshot() != before:
                    facts.refused.update(dict.fromkeys(_READ_AHEAD, _DRAWS))
                    self._hook.survey_after_step()

        return _next_index
