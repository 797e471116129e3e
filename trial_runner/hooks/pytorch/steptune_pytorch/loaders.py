# SPDX-License-Identifier: Apache-2.0
"""DataLoader: which ones there are, when a batch is waited for, when a pass begins and ends."""

import sys
import types
import weakref
from threading import get_ident
from time import perf_counter

import torch
from torch.utils.data import BatchSampler, DataLoader, dataloader

from steptune_pytorch import call_site, loader_queue, tensors
from steptune_pytorch.knobs.late_order import generator_of_order
from steptune_pytorch.knobs.loader import shows_training
from steptune_pytorch.knobs.random_state import UsualRandomState
from steptune_pytorch.part_clock import DATA, OTHER, PREPARE


_UNKNOWN_PASS = (None, None, False)


class LoaderFacts:
    """What is known of one loader. `training`: whether its batches are trained on; None: unknown.
    `known`: the facts that are told, by id."""

    def __init__(self, loader, where, known):
        self.where = where
        self.passes = 0
        self.training = None
        self.is_evaluated_on = False  # without gradients
        self.is_trained_on_in_pass = False  # the last one
        self.is_exhausted = False  # that pass has given all its batches
        self.given = 0  # batches of that pass
        self.read_order = None  # of that pass (`ReadOrder`), where its sampler draws from a generator of its own
        self.evaluations = 0  # passes whose forwards no backward has followed
        self.is_summed = False  # the backward comes after the pass, for all its losses
        self.is_fetched_ahead = None  # whether each is fetched before the one before is trained on; None: unknown
        self.has_trained_ahead = False  # one that was fetched ahead was trained on in a later step
        self.today = {}
        self.applied = {}
        self.refused = {}
        self.refused_now = {}  # by the configuration that was switched to last
        self.context = None  # of workers that the program does not have, where it is not PyTorch's own choice
        self.in_force = None  # where passes are switched while they run
        self.batch_bytes = 0
        self.data_set_state = None
        self.compares_data_set = True  # in a pass that may be switched; else it takes too long
        self.sampler_draws = False
        self.random_state = None  # of the program, where a pass was made of which nothing was read yet
        self.is_order_drawn_apart = False  # the program draws random numbers between making a pass and reading it
        self.was_shown_to_train = False  # by the arguments that it was made with
        self.shared = None  # its batches, divided among ranks
        self.not_shared = None  # why they cannot be
        self.id = loader_id(where, loader.dataset)
        self._loader = weakref.ref(loader)
        self._known = known
        self._under_way = weakref.WeakSet()  # iterators of its passes
        self._is_always_read = False
        self._batch_size = _batch_size(loader)
        # Its items are batches that the data set makes or, as a forward may show, samples that the program puts together.
        self.may_give_samples = self._batch_size is None and getattr(loader, "batch_sampler", None) is None
        self.count_samples = self._count_first  # samples in a batch
        self._samples_in_first = None  # of its batches: as many as are counted, where the data set makes batches, too

    def _count_first(self, batch):
        # A part of a batch holds fewer.
        expected = self._batch_size if self.shared is None else None
        self.count_samples = tensors.way_to_count(batch, expected)
        samples = self.count_samples(batch)
        if self.shared is None and samples > 0:
            self._samples_in_first = samples
        return samples

    def gives_samples(self):
        self.may_give_samples = False
        self.count_samples = _one

    def is_trained_on(self):
        self.training = True
        self._known[self.id] = self

    def read_by(self, iterator):
        try:
            self._under_way.add(iterator)
        except TypeError:  # of the program's own making, without weak references
            self._is_always_read = True

    def is_read(self):
        """Whether the program still has what a pass over it gave."""
        if self._is_always_read or len(self._under_way) > 1:
            return True
        loader = self._loader()
        # Where workers persist, the loader itself keeps the iterator for its next pass.
        if loader is not None and getattr(loader, "_iterator", None) in self._under_way:
            return _references_to_iterator(loader) > _OWN_REFERENCES
        return len(self._under_way) > 0

    def batches_in_pass(self):
        loader = self._loader()
        return None if loader is None else self._lengths(loader, loader)[0]

    def _lengths(self, loader, *things):
        """Of the loader and its parts. A sampler may draw the batches of a pass to count them, and take long."""
        state = UsualRandomState(getattr(loader, "generator", None))
        # Of an iterable data set: PyTorch warns of each batch beyond a length that was asked for.
        asked = getattr(loader, "_IterableDataset_len_called", None)
        try:
            return [_length(thing) for thing in things]
        finally:
            state.restore()
            if hasattr(loader, "_IterableDataset_len_called"):
                loader._IterableDataset_len_called = asked

    def now(self, name):
        if self.in_force is not None and name in self.in_force:
            return self.in_force[name]
        loader = self._loader()
        # A loader that is made for one pass is gone afterwards.
        last = self.applied.get(name, self.today.get(name))
        return last if loader is None else getattr(loader, name)

    def why_not(self, name):
        if self.sampler_draws and name in ("num_workers", "prefetch_factor"):
            return "the sampler draws random numbers while it is read: another order of samples"
        why = self.refused.get(name) or self.refused_now.get(name)
        if why is None and name == "num_workers" and self.is_order_drawn_apart and self.now(name) == 0:
            why = "the program draws random numbers between iter() and the first batch: workers draw the order before"
        return why

    def fields(self):
        loader = self._loader()
        training = False if self.training is None and self.is_evaluated_on else self.training
        fields = {"id": self.id, "where": self.where, "training": training}
        if loader is not None:
            fields["dataset"] = type(loader.dataset).__name__
            batches, samples = self._lengths(loader, loader, _own_sampler(loader))
            fields["length"] = batches
            size = self._batch_size if type(self._batch_size) is int else None
            fields["batch_size"] = size and (self._samples_in_first or size)
            if batches and samples and size and fields["batch_size"] == min(size, samples):
                # The last batch of a pass is smaller, or left out.
                fields["samples"] = min(samples, batches * size)
            fields["num_workers"] = loader.num_workers
        return fields


def _references_to_iterator(loader):
    iterator = loader._iterator
    return sys.getrefcount(iterator)


# Of an iterator that nothing but its loader keeps.
_OWN_REFERENCES = _references_to_iterator(types.SimpleNamespace(_iterator=object()))


def loader_id(where, dataset):
    """The same in each start of the program, whatever the knobs are."""
    items = _length(dataset)
    return "%s %s %s" % (where, type(dataset).__name__, "?" if items is None else items)


def _batch_size(loader):
    """A subclass may have gone without DataLoader.__init__, and a sampler may be the program's own."""
    size = getattr(loader, "batch_size", None)
    return getattr(getattr(loader, "batch_sampler", None), "batch_size", None) if size is None else size


def _own_sampler(loader):
    """What batches are made of; nothing where a batch sampler of another class decides that."""
    if getattr(loader, "batch_size", None) is not None:
        return getattr(loader, "sampler", None)
    batches = getattr(loader, "batch_sampler", None)
    return batches.sampler if type(batches) is BatchSampler else None


def _one(_):
    return 1


def _length(value):
    try:
        return len(value)
    except Exception:  # an iterable data set; its author's __len__ may raise anything
        return None


class Loaders:
    def __init__(self, hook):
        self._hook = hook
        self._facts = weakref.WeakKeyDictionary()  # by loader
        self._passes = {}  # by the id of their iterator: (reference to it, its loader's facts, whether it has a queue)
        self.known = {}  # of each id, in order: the last that was trained on, else the last
        patches = hook.patches
        patches.replace(DataLoader, "__init__", self._wrap_init)
        patches.replace(DataLoader, "__iter__", self._wrap_iter)
        patches.replace(dataloader._BaseDataLoaderIter, "__next__", self._wrap_next)

    def facts_of(self, loader):
        """A subclass may have gone without DataLoader.__init__."""
        return self._facts.get(loader) or self._remember(loader, call_site.where())

    def _remember(self, loader, where):
        facts = LoaderFacts(loader, where, self.known)
        self._facts[loader] = facts
        # One place may make several loaders of like data sets, of which one trains.
        if facts.id not in self.known or not self.known[facts.id].training:
            self.known[facts.id] = facts
        return facts

    def read_with_generator_of(self, loader):
        """Facts of others whose order comes from the same generator, and of which a pass is under way."""
        generator = generator_of_order(loader)
        if generator is None:
            return []
        return [
            facts
            for other, facts in self._facts.items()
            if other is not loader
            and generator_of_order(other) is generator
            and facts.passes
            and not facts.is_exhausted
            and facts.is_read()
        ]

    def left_with_generator_of(self, loader):
        """Facts of those whose last pass the program has left, and whose order comes from a generator of this one."""
        own, generators = self.facts_of(loader), (loader.generator, generator_of_order(loader))
        return [
            facts
            for facts in self._facts.values()
            if facts.read_order is not None
            and not facts.is_exhausted
            and facts.read_order.generator in generators
            and (facts is own or not facts.is_read())
        ]

    def _wrap_init(self, original):
        hook = self._hook

        def __init__(loader, dataset, *arguments, **named):
            if not hook.watches():
                return original(loader, dataset, *arguments, **named)
            today = None
            where = ""
            trains = False
            try:
                where = call_site.where()
                trains = shows_training(arguments, named)
                if trains:
                    arguments, named, today = hook.knobs.loader.arguments(arguments, named)
            except Exception as error:
                hook.failed(error)
            original(loader, dataset, *arguments, **named)
            if hook.active:
                try:
                    facts = self._remember(loader, where)
                    facts.was_shown_to_train = trains
                    if today is not None:
                        facts.today["batch_size"] = today
                except Exception as error:
                    hook.failed(error)

        return __init__

    def _wrap_iter(self, original):
        hook = self._hook

        def __iter__(loader):
            watches = hook.watches_training() if torch.is_grad_enabled() else hook.watches()
            if not watches or hook.clock.current == DATA:
                return original(loader)
            before = hook.clock.switch(DATA)
            try:
                facts = self._begin_pass(loader)
                iterator = (
                    hook.knobs.loader.iterate(loader, facts, original)
                    if facts
                    else original(loader)
                )
                if facts:
                    self._know_again(iterator, facts)
                    self._tell(hook.knobs.loader.pass_made, loader, facts)
                return iterator
            finally:
                if hook.watches():  # training may have begun in another thread
                    hook.clock.switch(before)

        return __iter__

    def watched(self, next_of_pass):
        """Waiting for a batch, as PyTorch's own iterators are watched."""
        return self._wrap_next(next_of_pass)

    def _know_again(self, iterator, facts):
        facts.read_by(iterator)
        passes, key = self._passes, id(iterator)
        try:
            reference = weakref.ref(iterator, lambda _: passes.pop(key, None))
        except TypeError:  # as above
            return
        passes[key] = (reference, facts, loader_queue.has_queue(iterator))

    def _begin_pass(self, loader):
        try:
            facts = self.facts_of(loader)
            self._hook.knobs.loader.put_orders_back(loader)
            facts.read_order = None
            facts.given = 0
            facts.passes += 1
            self._hook.progress.restarts(facts)
            return facts
        except Exception as error:
            self._hook.failed(error)
            return None

    def _wrap_next(self, original):
        hook = self._hook
        passes = self._passes
        read = original if hook.replay is None else hook.replay.around(original, passes)

        def __next__(iterator):
            clock = hook.clock
            before = clock.current
            if before == DATA or not hook.active or get_ident() != hook.thread:
                return original(iterator)
            _, facts, has_queue = passes.get(id(iterator), _UNKNOWN_PASS)
            if has_queue:
                self._tell(hook.progress.asks, facts, iterator)
            if facts is not None and facts.random_state is not None:
                self._tell(hook.knobs.loader.pass_is_read, facts)
            now_s = perf_counter()
            clock.totals_s[before] += now_s - clock.now_s
            clock.now_s = now_s
            clock.current = DATA
            try:
                batch = read(iterator)
            except BaseException as error:
                if hook.watches():
                    is_end = isinstance(error, StopIteration)
                    clock.switch(OTHER if is_end else before)
                    if is_end:
                        self._tell(hook.progress.exhausted, facts)
                    elif facts is not None:
                        hook.knobs.loader.failed(facts, error)
                raise
            if hook.active and get_ident() == hook.thread:  # as above
                now_s = perf_counter()
                clock.totals_s[clock.current] += now_s - clock.now_s
                clock.now_s = now_s
                clock.current = PREPARE
                progress = hook.progress
                try:
                    if facts is not None:
                        facts.given += 1
                    if progress.is_plain and facts is not None and facts.training:
                        samples = facts.count_samples(batch)
                        progress.batches += 1
                        progress.fetched_batches.append((facts, samples, samples * progress.world_size))
                    else:
                        progress.fetched(facts, batch)
                except Exception as error:
                    hook.failed(error)
            return batch

        return __next__

    def _tell(self, listener, *what):
        try:
            listener(*what)
        except Exception as error:
            self._hook.failed(error)
