# SPDX-License-Identifier: Apache-2.0
"""Wraps DataLoader: records loaders, waits for batches, and the start and end of passes."""

import sys
import types
import weakref
from threading import get_ident
from time import perf_counter

import torch
from torch.utils.data import BatchSampler, DataLoader, dataloader

from steptune_hook import call_site
from steptune_hook.part_clock import DATA, OTHER, PREPARE
from steptune_hook.pytorch import loader_queue, tensors
from steptune_hook.pytorch.knobs.late_order import generator_of_order
from steptune_hook.pytorch.knobs.random_state import RandomState, usual_sources


_UNKNOWN_PASS = (None, None, False)
_READS_AHEAD = "accelerate.data_loader"  # module of loaders that fetch a batch before they return the one before


class LoaderFacts:
    """Facts about one loader. `training`: True if its batches are trained on; None: unknown. `known`: reported facts of
    loaders, by id."""

    def __init__(self, loader, where, known):
        self.where = where
        self.passes = 0
        self.training = None
        self.is_evaluated_on = False  # True if a batch was fetched without gradients
        self.is_trained_on_in_pass = False  # True if a batch of the last pass was trained on
        self.is_exhausted = False  # True if the last pass has returned all its batches
        self.given = 0  # number of batches that the last pass has returned
        self.read_order = None  # `ReadOrder` of the last pass, if its sampler draws from its own generator
        self.evaluations = 0  # number of passes without a backward after their forwards
        self.is_summed = False  # True if one backward follows the pass, for all its losses
        # True if each batch is fetched before the previous one is trained on; None: unknown.
        self.is_fetched_ahead = None
        self.has_trained_ahead = False  # True if a batch that was fetched ahead was trained on in a later step
        self.reads_step_ahead = False  # True if accelerate fetches all batches of a step, and one more, at once
        self.today = {}  # the program's own arguments, by name
        self.applied = {}  # the arguments that the hook has set for the last pass
        self.refused = {}  # reasons, by name of the argument
        self.refused_now = {}  # reasons that are valid only for the configuration of the last switch
        self.context = None  # context that starts workers if the program has none; None: PyTorch's default
        self.switched_settings = None  # settings of passes that are switched while they run
        self.batch_bytes = 0
        self.data_set_state = None
        self.compares_data_set = True  # False if comparing the data set takes too long
        self.random_state = None  # the program's random state when it made a pass that is still unread
        self.was_shown_to_train = False  # True if its constructor arguments show that it trains
        self.shared = None  # its batches, divided among ranks
        self.not_shared = None  # reason why its batches cannot be divided
        self.id = loader_id(where, loader.dataset)
        self._loader = weakref.ref(loader)
        self._known = known
        self._under_way = weakref.WeakSet()  # iterators of its passes
        self._is_always_read = False
        self._batch_size = _batch_size(loader)
        # The loader's items are either batches that the data set makes or, as a forward may show, samples that the
        # program collates.
        self.may_give_samples = self._batch_size is None and getattr(loader, "batch_sampler", None) is None
        self.count_samples = self._count_first  # samples in a batch
        self._samples_in_first = None  # samples in the loader's first batch, counted as `count_samples` does

    def _count_first(self, batch):
        # A rank's part of a batch has fewer samples.
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
        except TypeError:  # the program's own class, without weak references
            self._is_always_read = True

    def is_read(self):
        """True if the program still has the iterator of one of its passes."""
        if self._is_always_read or len(self._under_way) > 1:
            return True
        loader = self._loader()
        # With persistent workers, the loader itself keeps the iterator for its next pass.
        if loader is not None and getattr(loader, "_iterator", None) in self._under_way:
            return _references_to_iterator(loader) > _OWN_REFERENCES
        return len(self._under_way) > 0

    def batches_in_pass(self):
        loader = self._loader()
        return None if loader is None else self._lengths(loader, loader)[0]

    def _lengths(self, loader, *things):
        """Returns the lengths of the loader and its parts. A sampler may draw the batches of a pass to count them,
        which may take long."""
        state = RandomState(usual_sources(getattr(loader, "generator", None)))
        # If an iterable data set's length was requested, PyTorch warns of each batch beyond it.
        requested = getattr(loader, "_IterableDataset_len_called", None)
        try:
            return [_length(thing) for thing in things]
        finally:
            state.restore()
            if hasattr(loader, "_IterableDataset_len_called"):
                loader._IterableDataset_len_called = requested

    def now(self, name):
        if name == "batch_size":
            return self._batch_size
        if self.switched_settings is not None and name in self.switched_settings:
            return self.switched_settings[name]
        loader = self._loader()
        # A loader that is made for one pass no longer exists after the pass.
        last = self.applied.get(name, self.today.get(name))
        return last if loader is None else getattr(loader, name)

    def why_not(self, name):
        return self.refused.get(name) or self.refused_now.get(name)

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
                # The last batch of a pass is smaller, or dropped.
                fields["samples"] = min(samples, batches * size)
            fields["num_workers"] = loader.num_workers
        return fields


def _references_to_iterator(loader):
    iterator = loader._iterator
    return sys.getrefcount(iterator)


# Number of references to an iterator that only its loader has.
_OWN_REFERENCES = _references_to_iterator(types.SimpleNamespace(_iterator=object()))


def loader_id(where, dataset):
    """Returns an id that is the same in each start of the program, for any values of the knobs."""
    items = _length(dataset)
    return "%s %s %s" % (where, type(dataset).__name__, "?" if items is None else items)


def _batch_size(loader):
    """Returns the batch size. A subclass may have skipped DataLoader.__init__, and a sampler may be the program's own."""
    size = getattr(loader, "batch_size", None)
    return getattr(getattr(loader, "batch_sampler", None), "batch_size", None) if size is None else size


def _own_sampler(loader):
    """Returns the sampler from which batches are made; None if a batch sampler of another class makes them."""
    if getattr(loader, "batch_size", None) is not None:
        return getattr(loader, "sampler", None)
    batches = getattr(loader, "batch_sampler", None)
    return batches.sampler if type(batches) is BatchSampler else None


def _one(_):
    return 1


def _length(value):
    try:
        return len(value)
    except Exception:  # an iterable data set, or an error in the program's own __len__
        return None


class Loaders:
    def __init__(self, hook):
        self._hook = hook
        self._facts = weakref.WeakKeyDictionary()  # by loader
        # By batch sampler that a loader made: the batch size in the unchanged program, and True if the loader was shown
        # to train. Accelerate makes another loader with the same batch sampler.
        self._made = weakref.WeakKeyDictionary()
        self._passes = {}  # by id of their iterator: (reference to it, facts of its loader, True if it has a queue)
        self.known = {}  # by id, in order: the last loader that was trained on, otherwise the last one
        patches = hook.patches
        patches.replace(DataLoader, "__init__", self._wrap_init)
        patches.replace(DataLoader, "__iter__", self._wrap_iter)
        patches.replace(DataLoader, "_get_iterator", self._wrap_get_iterator)
        patches.replace(dataloader._BaseDataLoaderIter, "__next__", self._wrap_next)

    def facts_of(self, loader):
        """Returns the facts of a loader. A subclass may have skipped DataLoader.__init__, so they may be new."""
        return self._facts.get(loader) or self._remember(loader)

    def _remember(self, loader):
        facts = LoaderFacts(loader, call_site.where(), self.known)
        self._facts[loader] = facts
        # One line may make several loaders of similar data sets. Prefer the loader that trains.
        if facts.id not in self.known or not self.known[facts.id].training:
            self.known[facts.id] = facts
        return facts

    def read_with_generator_of(self, loader):
        """Returns the facts of other loaders with an unfinished pass whose order comes from the same generator."""
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
        """Returns the facts of loaders with an abandoned pass, if their order comes from one of this loader's
        generators."""
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
            asked = hook.guarded(hook.knobs.loader.arguments, arguments, named)
            arguments, named, today, trains = asked or (arguments, named, None, False)
            original(loader, dataset, *arguments, **named)
            if hook.active:
                hook.guarded(self._look_at_batches, loader, today, trains)

        return __init__

    def _look_at_batches(self, loader, today, trains):
        """`today`: the batch size in the unchanged program, if the hook has changed it."""
        facts = self._remember(loader)
        batches = loader.batch_sampler
        if loader.batch_size is None:
            inner = getattr(batches, "batch_sampler", None)  # accelerate divides its batches among ranks
            made = [self._made.get(b) for b in (batches, inner) if type(b) is BatchSampler]
            today, trains = next(filter(None, made), (None, trains))
        elif type(batches) is BatchSampler:
            today = loader.batch_size if today is None else today
            self._made[batches] = (today, trains)
        facts.was_shown_to_train = trains
        if today is not None:
            facts.today["batch_size"] = today

    def _wrap_iter(self, original):
        hook = self._hook

        def __iter__(loader):
            watches = hook.watches_training() if torch.is_grad_enabled() else hook.watches()
            if not watches or hook.clock.current == DATA:
                return original(loader)
            before = hook.clock.switch(DATA)
            try:
                facts = hook.guarded(self._begin_pass, loader)
                if facts and facts.is_fetched_ahead is None:
                    facts.reads_step_ahead = sys._getframe(1).f_globals.get("__name__") == _READS_AHEAD
                iterator = hook.knobs.loader.iterate(loader, facts, original) if facts else original(loader)
                if facts:
                    self._know_again(iterator, facts)
                    hook.guarded(hook.knobs.loader.pass_made, loader, facts)
                return iterator
            finally:
                if hook.watches():  # training may have begun in another thread
                    hook.clock.switch(before)

        return __iter__

    def _wrap_get_iterator(self, original):
        """Also counts passes of loaders that replace __iter__ and keep one endless iterator, such as ultralytics'."""
        begin_pass = self._wrap_iter(original)

        def _get_iterator(loader):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if caller == dataloader.__name__ or caller.startswith("steptune_hook."):
                return original(loader)
            if self._hook.watches():
                self.facts_of(loader).refused["persistent_workers"] = "the loader keeps its workers itself"
            return begin_pass(loader)

        return _get_iterator

    def watched(self, next_of_pass):
        """Returns `next_of_pass`, watched like PyTorch's own iterators."""
        return self._wrap_next(next_of_pass)

    def _know_again(self, iterator, facts):
        facts.read_by(iterator)
        passes, key = self._passes, id(iterator)
        try:
            reference = weakref.ref(iterator, lambda _: passes.pop(key, None))
        except TypeError:  # see `read_by`
            return
        passes[key] = (reference, facts, loader_queue.has_queue(iterator))

    def _begin_pass(self, loader):
        facts = self.facts_of(loader)
        self._hook.knobs.loader.put_orders_back(loader)
        facts.read_order = None
        facts.given = 0
        facts.passes += 1
        self._hook.progress.restarts(facts)
        return facts

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
                hook.guarded(hook.progress.asks, facts, iterator)
            if facts is not None and facts.random_state is not None:
                hook.guarded(hook.knobs.loader.pass_is_read, facts)
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
                        hook.guarded(hook.progress.exhausted, facts)
                    elif facts is not None:
                        hook.knobs.loader.failed(facts, error)
                raise
            if hook.active and get_ident() == hook.thread:  # training may have begun in another thread
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
                        progress.batches.count += 1
                        progress.batches.fetched.append((facts, samples, samples * progress.world_size))
                    else:
                        progress.fetched(facts, batch)
                except Exception as error:
                    hook.failed(error)
            return batch

        return __next__
