# SPDX-License-Identifier: Apache-2.0
"""Passes over training loaders whose workers may change: one stream of indices for each pass, read by
one pool after the other, so that batches come in the order of the untouched program."""

import collections
import itertools
import os
import weakref

import torch

from steptune_pytorch import tensors
from steptune_pytorch.events import last_line
from steptune_pytorch.knobs.open_files import why_not_forked
from steptune_pytorch.knobs.random_state import snapshot
from steptune_pytorch.live.pools import Parking

NAMES = ("num_workers", "prefetch_factor", "pin_memory")
_MOST_BUFFERED = 64  # batches: more would outlast a block
_SHARE_OF_MEMORY = 0.25
_WATCHED_BATCHES = 4


class LivePasses:
    def __init__(self, hook):
        self._hook = hook
        self._parking = weakref.WeakKeyDictionary()  # by loader
        self._under_way = weakref.WeakSet()
        self._asked = {}
        self.seeds = torch.Generator()
        self.seeds.manual_seed(torch.initial_seed() & 0x7FFFFFFF)

    # -- a pass ----------------------------------------------------------------------------------

    def why_not(self, loader):
        """Why a pass over this loader cannot be switched; None if it can."""
        for sampler in (loader.sampler, loader.batch_sampler):
            if sampler is not None and not type(sampler).__module__.startswith("torch."):
                return "%s is the program's own sampler, which may read ahead in its own way" % (
                    type(sampler).__name__
                )
        return None

    def begin(self, loader, facts, draws_seed):
        """A pass with what is in force now. `draws_seed`: the untouched program draws one here."""
        parking = self._parking.setdefault(loader, Parking())
        if not (facts.today["persistent_workers"] and facts.today["num_workers"]):
            parking.clear()
        seeds = self.seeds
        if draws_seed:
            source = loader.generator if loader.generator is not None else torch.default_generator
            seeds = torch.Generator()
            seeds.set_state(source.get_state())
            torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        for former in self._under_way:
            former.is_replaced = former.is_replaced or former.facts is facts
        live_pass = LivePass(self._hook, loader, facts, parking)
        live_pass.switch(self._settings(facts), seeds)
        self._under_way.add(live_pass)
        return live_pass

    def _settings(self, facts):
        if facts.refused_now:
            return self._baseline(facts)
        settings = {name: self._asked.get(name, facts.today[name]) for name in NAMES}
        for name in NAMES:
            if facts.refused.get(name) is not None:
                settings[name] = facts.today[name]
        if settings["num_workers"] == 0:
            settings["prefetch_factor"] = facts.today["prefetch_factor"]
        elif settings["prefetch_factor"] is None:
            settings["prefetch_factor"] = 2  # what PyTorch takes for None once there are workers
        return settings

    # -- switching -------------------------------------------------------------------------------

    def switch(self, asked):
        self._asked = {name: asked[name] for name in NAMES if name in asked}
        for facts in self._hook.loaders.known.values():
            facts.refused_now = {}
            if facts.training and facts.passes and facts.in_force is None:
                why = "this pass began before its loader was known to train"
                facts.refused_now = dict.fromkeys(self._asked, why)
        training = [live_pass for live_pass in self._under_way if live_pass.facts.training]
        for live_pass in training:
            facts = live_pass.facts
            settings = self._settings(facts)
            why = self._why_not_now(live_pass, settings)
            try:
                if why is None:
                    live_pass.switch(settings, self.seeds)
            except Exception as error:  # the pool before goes on
                why = (str(error) or type(error).__name__).split("\n")[0]
            if why is not None:
                facts.refused_now = dict.fromkeys(self._asked, why)
                live_pass.switch(self._baseline(facts), self.seeds)

    @staticmethod
    def _baseline(facts):
        return {name: facts.today[name] for name in NAMES}

    def _why_not_now(self, live_pass, settings):
        facts = live_pass.facts
        workers = settings["num_workers"]
        if workers == 0 or settings == self._baseline(facts):
            return None
        if facts.today["num_workers"] == 0:
            why = live_pass.why_not_forked()  # it may have been opened meanwhile
            if why is not None:
                return why
        batches = workers * settings["prefetch_factor"]
        if batches > _MOST_BUFFERED:
            return "%d batches in buffers outlast a block of a running program" % batches
        needed = batches * facts.batch_bytes
        free = _free_bytes()
        if needed > _SHARE_OF_MEMORY * free:
            return "%d batches of %d bytes would take more than a quarter of the free memory" % (
                batches,
                facts.batch_bytes,
            )
        return None

    def are_settled(self):
        return all(live_pass.is_settled() for live_pass in self._under_way)


class LivePass:
    """What iterating over the loader gives, in place of PyTorch's iterator."""

    def __init__(self, hook, loader, facts, parking):
        self.facts = facts
        self.is_replaced = False  # another pass over the loader has begun
        self._hook = hook
        self._loader = loader
        self._parking = parking
        self._stream = iter(loader._index_sampler)
        self._pools = collections.deque()  # the first is read; the last reads indices
        self._handed_out = 0
        self._settled_at = 0
        self._watched_next = hook.loaders.watched(LivePass._next)

    def switch(self, settings, seeds):
        """From now on new batches are loaded so; those under way come first."""
        if self._pools and self._pools[-1].settings == settings:
            return
        pool = self._parking.take(self._loader, settings)
        pool.open(self._stream, seeds)
        under_way = sum(before.under_way() for before in self._pools)
        if self._pools:
            self._pools[-1].close()
            self._settled_at = self._handed_out + under_way + pool.buffered()
        self._pools.append(pool)
        self.facts.in_force = dict(settings)

    def why_not_forked(self):
        return why_not_forked(self._loader.dataset)

    def is_settled(self):
        """Whether batches come as they will: those of the settings before are gone, and so are those
        that were loaded while these were used up."""
        return self.is_replaced or self._handed_out >= self._settled_at

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __next__(self):
        return self._watched_next(self)

    def _next(self):
        while True:
            try:
                batch = self._next_of(self._pools[0])
            except StopIteration:
                if len(self._pools) > 1:
                    self._parking.put(self._pools.popleft())
                    continue
                self._settled_at = self._handed_out
                raise
            except Exception as error:
                if not self._falls_back(error):
                    raise
                continue
            self._pools[0].handed_out()
            self._handed_out += 1
            if self._handed_out <= _WATCHED_BATCHES:
                self.facts.batch_bytes = max(self.facts.batch_bytes, _bytes_in(batch))
            return batch

    def _falls_back(self, error):
        """To the program's own settings, with the batch that could not be loaded, unless these have failed."""
        own = {name: self.facts.today[name] for name in NAMES}
        if self._pools[0].settings == own:
            return False
        begun = [indices for pool in self._pools for indices in pool.begun()]
        while self._pools:
            pool = self._pools.popleft()
            pool.close()
            pool.end()
        self._parking.clear()
        self._stream = itertools.chain(begun, self._stream)
        self.facts.refused.update(dict.fromkeys(NAMES[:2], last_line(error)))
        self.switch(own, self._hook.live.passes.seeds)
        self._settled_at = self._handed_out
        self._hook.survey_after_step()
        return True

    def _next_of(self, pool):
        # Without workers the data set draws from the program's own random numbers. The first batch
        # has the sampler's seed with it.
        if pool.workers or not 1 <= self._handed_out < _WATCHED_BATCHES:
            return next(pool.iterator)
        before = snapshot()
        batch = next(pool.iterator)
        if snapshot() != before:
            why = "the data set draws random numbers: workers would draw others"
            self.facts.refused.update(num_workers=why, prefetch_factor=why)
            self._hook.survey_after_step()
        return batch

    def __del__(self):
        # The pass is over, or was left: its workers wait for the next.
        for pool in self._pools:
            self._parking.put(pool)


def _bytes_in(batch):
    found = []
    tensors.converted(batch, lambda tensor: found.append(tensor))
    return sum(tensor.numel() * tensor.element_size() for tensor in found if tensors.is_dense(tensor))


def _free_bytes():
    """Of main memory and of /dev/shm, through which workers hand batches over, the less."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    free = 1024 * int(line.split()[1])
        shared = os.statvfs("/dev/shm")
        free = min(free, shared.f_bavail * shared.f_frsize)
    except OSError:
        pass
    return free
