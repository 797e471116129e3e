# SPDX-License-Identifier: Apache-2.0
"""Knobs for arguments of the training DataLoaders, which are changed when a pass begins."""

import multiprocessing
import sys

import torch
from torch.utils.data import DataLoader, IterableDataset, SequentialSampler, dataloader

from steptune_hook.events import first_line, last_line
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.pytorch.knobs import worker_start
from steptune_hook.pytorch.knobs.data_set_state import state_of
from steptune_hook.pytorch.knobs.late_order import (
    ReadOrder,
    draws_from_program,
    generator_drawn_on,
    made_unread,
)
from steptune_hook.pytorch.knobs.open_files import why_not_forked
from steptune_hook.pytorch.knobs.random_state import RandomState, torch_sources
from steptune_hook.pytorch.knobs.sampler_watch import SamplerWatch

_NAMES = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory")
_POSITIONS = {"batch_size": 0, "shuffle": 1, "sampler": 2}  # after the data set
_WATCHED_PASSES = 3
_DRAWN_BESIDE = "the program also draws from the sampler's generator: workers would change the order of samples"
_DRAWN_APART = "the program draws random numbers between iter() and the first batch: workers would change the order of samples"


class LoaderKnobs:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = {name: requested[name] for name in _NAMES if name in requested}
        self._batch_size = requested.get("batch_size")
        self._samplers = SamplerWatch(hook)
        # Last error of workers whose number the hook changed: its type, its text, the number of workers, and the number
        # of batches before it.
        self._error = None

    def arguments(self, arguments, named):
        """Returns the arguments after the data set, the original batch size if it changed, and True if the arguments
        show that the loader trains. A loader that trains gets the requested batch size."""
        trains = _show_training(arguments, named)
        today = _argument(arguments, named, "batch_size", 1)
        if not trains or self._batch_size is None or today is None:
            return arguments, named, None, trains
        if arguments:
            return (self._batch_size, *arguments[1:]), named, today, trains
        return arguments, dict(named, batch_size=self._batch_size), today, trains

    def iterate(self, loader, facts, original):
        """Starts a new pass over the loader, with the requested settings if its batches are trained on."""
        hook = self._hook
        try:
            trains = torch.is_grad_enabled() if facts.training is None else facts.training
            if trains:
                hook.knobs.process.settle()
                hook.knobs.strategy.share(loader, facts)
            if facts.passes == 1:
                facts.today = dict(_arguments_of(loader), **facts.today)
                facts.context = worker_start.context(loader)
                # A program may make a new loader for each pass. So carry over the known refusals.
                facts.refused = dict(hook.loaders.known[facts.id].refused, **self._refusals(loader))
                self._samplers.watch(loader, facts)
            self._look_for_shared_generator(loader, facts)
            if not trains:
                if facts.applied:  # it looked like a training loader before
                    self._set(loader, facts, {name: facts.today[name] for name in _NAMES})
                    facts.applied = {}
                return original(loader)
            if hook.live is not None:
                return self._begin_live_pass(loader, facts, original)
            wanted = self._wanted(loader, facts)
            state = RandomState(torch_sources(loader.generator))
            self._set(loader, facts, wanted)
        except Exception as error:
            hook.failed(error)
            return original(loader)
        if not wanted:
            is_watched = not loader.num_workers and facts.passes <= _WATCHED_PASSES
            iterator = original(loader)
            return self._with_order_kept(iterator, loader, facts) if is_watched else iterator
        try:
            was_late = not facts.today["num_workers"] and draws_from_program(loader)
            is_late = loader.num_workers > 0 and (was_late or _own_generator_drawn_on(loader) is not None)
            iterator = self._with_equal_seeds(loader, facts, made_unread(original) if is_late else original)
            return self._with_order_kept(iterator, loader, facts)
        except Exception as error:
            # Some data sets cannot be passed to workers, for example. Then use the program's own settings.
            state.restore()
            for name in wanted:
                self._refuse(facts, name, first_line(error))
            self._set(loader, facts, {})
            return original(loader)

    def _look_for_shared_generator(self, loader, facts):
        others = self._hook.loaders.read_with_generator_of(loader)
        if others:
            why = "loaders that are read in turns share a generator: the order of samples would change"
            to_refuse = [sharing for sharing in (facts, *others) if sharing.refused.get("num_workers") != why]
            for sharing in to_refuse:
                sharing.refused.update(dict.fromkeys(_NAMES[:2], why))
            if to_refuse:  # otherwise it is known already; a pass may begin in each step
                self._hook.survey_after_step()

    def put_orders_back(self, loader):
        """Called before a new pass. If the program has abandoned earlier passes that drew from the same generator,
        restores that generator."""
        for facts in self._hook.loaders.left_with_generator_of(loader):
            order, facts.read_order = facts.read_order, None
            ahead = facts.today["num_workers"] * (facts.today["prefetch_factor"] or 2)
            order.put_back(facts.given + ahead)

    def _with_order_kept(self, iterator, loader, facts):
        if isinstance(iterator, dataloader._BaseDataLoaderIter):
            iterator._sampler_iter = self.indices_of(loader, facts, iterator._sampler_iter)
        return iterator

    def indices_of(self, loader, facts, indices):
        """Returns the indices of a new, unread pass. Wraps them if the pass's sampler draws from its own generator."""
        generator = _own_generator_drawn_on(loader)
        if generator is None:
            return indices

        def drawn_by_other():
            if "num_workers" not in facts.refused:
                facts.refused.update(dict.fromkeys(_NAMES[:2], _DRAWN_BESIDE))
                self._hook.survey_after_step()

        facts.read_order = ReadOrder(indices, generator, drawn_by_other)
        return facts.read_order

    def pass_made(self, loader, facts):
        """Keeps the random state when a pass is made: without workers, the order would be drawn later."""
        may_change = self._hook.live is None and facts.passes <= _WATCHED_PASSES and facts.training is not False
        if may_change and facts.today.get("num_workers") and draws_from_program(loader):
            facts.random_state = torch.default_generator.get_state()

    def pass_is_read(self, facts):
        """Called when a pass is first read. Detects random draws since the pass was made."""
        made, facts.random_state = facts.random_state, None
        if facts.now("num_workers") == 0 and not torch.equal(made, torch.default_generator.get_state()):
            self._refuse(facts, "num_workers", _DRAWN_APART)

    def failed(self, facts, error):
        """Called if reading a batch raised an error. Keeps only the error's text. The error itself would keep the
        program's objects alive."""
        if not facts.applied or facts.now("num_workers") == facts.today["num_workers"]:
            return
        if isinstance(error, Exception) and "DataLoader worker" in str(error):  # PyTorch's wording for workers
            self._error = (type(error), str(error), facts.now("num_workers"), self._hook.progress.batches.count)

    def forget_error(self):
        """Called in a forked child, because the error occurred in its parent."""
        self._error = None

    def end(self):
        """Called at the program's end. If the last error of workers ended the program, informs the tuner. The tuner
        would otherwise see a failure without a reason. Ranks that print nothing also inform it."""
        if self._error is None:
            return
        kind, text, workers, batches = self._error
        last = getattr(sys, "last_value", None)
        is_last = (type(last), str(last)) == (kind, text)
        if last is None and multiprocessing.parent_process() is not None:
            # mp.spawn raises the error of its process again in the parent.
            is_last = batches == self._hook.progress.batches.count
        if is_last:
            with self._hook.printer.aloud():
                self._hook.events.tell("gave_up", knob="num_workers", value=workers, why=last_line(text))
                self._hook.events.open()

    def _begin_live_pass(self, loader, facts, original):
        why = facts.refused.get("num_workers") or self._hook.live.passes.why_not(loader)
        if why is not None:
            facts.refused.update((name, why) for name in _NAMES[:2])
            return original(loader)
        if not torch.cuda.is_available():
            facts.refused["pin_memory"] = "no GPU"
        persists = facts.today["persistent_workers"] and facts.today["num_workers"] > 0
        draws_seed = facts.passes == 1 or not persists
        return self._hook.live.passes.begin(loader, facts, draws_seed)

    def _wanted(self, loader, facts):
        wanted = {
            name: value
            for name, value in self._requested.items()
            if name not in facts.refused and value != facts.today[name]
        }
        if wanted.get("persistent_workers") and self._data_set_changed(loader, facts):
            why = "attributes of the data set change between passes, which workers would not see"
            self._refuse(facts, "persistent_workers", why)
            del wanted["persistent_workers"]
        workers = wanted.get("num_workers", facts.today["num_workers"])
        if workers > 0 and wanted.get("prefetch_factor", loader.prefetch_factor) is None:
            wanted["prefetch_factor"] = 2  # PyTorch's meaning of None if there are workers
        return wanted

    def _refuse(self, facts, name, why):
        facts.refused[name] = why
        self._hook.survey_after_step()

    def _set(self, loader, facts, values):
        """Sets values, and the program's own for those that were set before and are refused by now."""
        refused = [name for name, value in facts.applied.items() if name in facts.refused and value != facts.today[name]]
        values = dict({name: facts.today[name] for name in refused}, **values)
        if any(getattr(loader, name) != value for name, value in values.items()):
            loader._iterator = None  # its persistent workers have the earlier values
        if facts.context is not None and values.get("num_workers") == 0:
            loader.multiprocessing_context = None  # not allowed without workers
        for name, value in values.items():
            if name == "persistent_workers":
                loader.__dict__[name] = value  # __setattr__ guards it after construction
            else:
                setattr(loader, name, value)
        if loader.num_workers == 0 and loader.timeout > 0:
            loader.timeout = 0  # a timeout is not allowed without workers
        if facts.context is not None and loader.num_workers > 0:
            loader.multiprocessing_context = facts.context
        facts.applied = {name: getattr(loader, name) for name in _NAMES}

    def _with_equal_seeds(self, loader, facts, original):
        """Draws base seeds as often as the untouched program does, so that the program's random numbers stay the same.
        Each new iterator draws one from the program's generator; persistent workers do not."""
        first = facts.passes == 1
        today_draws = first or not (facts.today["persistent_workers"] and facts.today["num_workers"])
        persists = loader.persistent_workers and loader.num_workers > 0
        draws = loader._iterator is None or not persists
        if today_draws and not draws:
            torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        if today_draws or not draws:
            return original(loader)
        generator = loader.generator
        loader.generator = torch.Generator()
        loader.generator.manual_seed(torch.initial_seed() + facts.passes)
        try:
            return original(loader)
        finally:
            loader.generator = generator

    def _data_set_changed(self, loader, facts):
        state = state_of(loader.dataset)
        before, facts.data_set_state = facts.data_set_state, state
        return before is not None and before != state

    def _refusals(self, loader):
        why = None
        if type(loader)._get_iterator is not DataLoader._get_iterator:
            why = "%s makes its own iterators" % type(loader).__name__
        elif multiprocessing.current_process().daemon:
            why = "this process may not start child processes"
        elif isinstance(loader.dataset, IterableDataset):
            why = "an iterable data set: each worker would repeat or reorder its samples"
        elif loader.num_workers == 0:
            why = worker_start.why_not(loader) or why_not_forked(loader.dataset)
        refused = {} if why is None else {name: why for name in _NAMES[:3]}
        if generator_drawn_on(loader) is torch.default_generator:
            refused = dict(dict.fromkeys(_NAMES[:2], _DRAWN_BESIDE), **refused)
        if not torch.cuda.is_available():
            refused["pin_memory"] = "no GPU"
        return refused

    def statuses(self):
        loaders = [facts for facts in self._hook.loaders.known.values() if facts.training]
        where = ["%s DataLoader" % facts.where for facts in loaders]
        if not loaders:
            return
        for name in _NAMES:
            facts = loaders[0]
            refusals = [facts.why_not(name) for facts in loaders]
            why = next((why for why in refusals if why is not None), None)
            forks = name == "num_workers" and any(facts.context is not None for facts in loaders)
            also = ['multiprocessing_context="fork"'] if forks else []
            yield KnobStatus(name, facts.today.get(name), facts.now(name), why, where=where, also=also)
        today = loaders[0].today.get("batch_size")
        why = None
        if today is None:
            why = "the batches are the program's own (batch_sampler)"
        elif any(facts.today.get("batch_size") != today for facts in loaders):
            why = "the program trains on batches of several sizes"
        elif not all(facts.was_shown_to_train for facts in loaders):
            why = "a loader without shuffling may not be for training"
        now = None if today is None else loaders[0].now("batch_size")
        yield KnobStatus("batch_size", today, now, why, where=where)


def _own_generator_drawn_on(loader):
    generator = generator_drawn_on(loader)
    return None if generator is torch.default_generator else generator


def _show_training(arguments, named):
    """True if the arguments after the data set show that the loader trains: evaluations do not shuffle."""
    sampler = _argument(arguments, named, "sampler")
    draws = sampler is not None and type(sampler) is not SequentialSampler and getattr(sampler, "shuffle", True)
    return bool(_argument(arguments, named, "shuffle") or draws)


def _argument(arguments, named, name, otherwise=None):
    position = _POSITIONS[name]
    return arguments[position] if len(arguments) > position else named.get(name, otherwise)


def _arguments_of(loader):
    values = {name: getattr(loader, name) for name in _NAMES}
    values["batch_size"] = loader.batch_size
    return values
