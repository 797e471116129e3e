# SPDX-License-Identifier: Apache-2.0
"""Passes over training loaders whose workers may change. Each pass has one stream of indices. Pools of workers read it
one after another, so batches come in the order of the untouched program."""

import weakref

import torch

from steptune_hook import ranks
from steptune_hook.events import first_line
from steptune_hook.free_memory import free_bytes
from steptune_hook.pytorch.knobs.open_files import why_not_forked
from steptune_hook.pytorch.knobs.random_state import RandomState, torch_sources
from steptune_hook.pytorch.live.live_pass import NAMES, LivePass, own_settings
from steptune_hook.pytorch.live.pools import Parking

_MOST_BUFFERED = 64  # batches; more would outlast a block
_SHARE_OF_MEMORY = 0.25


class LivePasses:
    def __init__(self, hook):
        self._hook = hook
        self._parking = weakref.WeakKeyDictionary()  # by loader
        self._under_way = weakref.WeakSet()
        self._requested = {}
        self._seeds = torch.Generator()
        self._seeds.manual_seed(torch.initial_seed() & 0x7FFFFFFF)

    def why_not(self, loader):
        """Returns why a pass over this loader cannot be switched; None if it can."""
        if not getattr(loader, "in_order", True):
            return "batches come in any order"
        for sampler in (loader.sampler, loader.batch_sampler):
            if sampler is not None and not type(sampler).__module__.startswith("torch."):
                return "%s is the program's own sampler, which may read ahead in its own way" % (
                    type(sampler).__name__
                )
        return None

    def begin(self, loader, facts, draws_seed):
        """Starts a pass with the current settings. `draws_seed`: True if the untouched program draws a seed here."""
        parking = self._parking.setdefault(loader, Parking())
        if not (facts.today["persistent_workers"] and facts.today["num_workers"]):
            parking.clear()
        state = RandomState(torch_sources(loader.generator))
        try:
            seeds = self._seeds
            if draws_seed:
                source = loader.generator if loader.generator is not None else torch.default_generator
                seeds = torch.Generator()
                seeds.set_state(source.get_state())
                torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
            live_pass = LivePass(self._hook, loader, facts, parking)
            self._put(live_pass, seeds)
        except Exception:
            state.restore()  # PyTorch's own iterator will draw again
            raise
        for former in self._under_way:
            former.is_replaced = former.is_replaced or former.facts is facts
        self._under_way.add(live_pass)
        return live_pass

    def _put(self, live_pass, seeds):
        """Sets the requested settings, or the program's own if the pass cannot use them."""
        facts = live_pass.facts
        settings = self._settings(facts)
        why = self._why_not_now(live_pass, settings)
        try:
            if why is None:
                live_pass.switch(settings, seeds)
        except Exception as error:  # the previous pool continues
            why = first_line(error)
        if why is not None:
            facts.refused_now = dict.fromkeys(self._requested, why)
            live_pass.switch(own_settings(facts), seeds)
            self._hook.survey_after_step()

    def _settings(self, facts):
        if facts.refused_now:
            return own_settings(facts)
        settings = {name: self._requested.get(name, facts.today[name]) for name in NAMES}
        for name in NAMES:
            if facts.refused.get(name) is not None:
                settings[name] = facts.today[name]
        if settings["num_workers"] == 0:
            settings["prefetch_factor"] = facts.today["prefetch_factor"]
        elif settings["prefetch_factor"] is None:
            settings["prefetch_factor"] = 2  # PyTorch's meaning of None if there are workers
        return settings

    def switch(self, requested):
        self._requested = {name: requested[name] for name in NAMES if name in requested}
        for facts in self._hook.loaders.known.values():
            facts.refused_now = {}
            if facts.training and facts.passes and facts.switched_settings is None:
                why = "this pass began before its loader was known to train"
                facts.refused_now = dict.fromkeys(self._requested, why)
        training = [live_pass for live_pass in self._under_way if live_pass.facts.training]
        for live_pass in training:
            self._put(live_pass, self._seeds)

    def _why_not_now(self, live_pass, settings):
        facts = live_pass.facts
        workers = settings["num_workers"]
        if workers == 0 or settings == own_settings(facts):
            return None
        if facts.today["num_workers"] == 0:
            why = why_not_forked(live_pass.data_set)  # the program may have opened a file in the meantime
            if why is not None:
                return why
        batches = workers * settings["prefetch_factor"]
        if batches > _MOST_BUFFERED:
            return "%d buffered batches last longer than a trial in a running program" % batches
        of_all_ranks = batches * ranks.on_this_machine()
        if of_all_ranks * facts.batch_bytes > _SHARE_OF_MEMORY * free_bytes():
            return "%d batches of %d bytes would take more than a quarter of the free memory" % (
                of_all_ranks,
                facts.batch_bytes,
            )
        return None

    def are_settled(self):
        return all(live_pass.is_settled() for live_pass in self._under_way)
