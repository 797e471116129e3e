# SPDX-License-Identifier: Apache-2.0
"""One pass over a training loader, whose workers may change during the pass."""

import collections
from time import perf_counter

from steptune_hook.events import last_line
from steptune_hook.pytorch import tensors
from steptune_hook.pytorch.knobs.data_set_state import state_of
from steptune_hook.pytorch.knobs.random_state import RandomState, snapshot, usual_sources
from steptune_hook.pytorch.live.pools import Stream

NAMES = ("num_workers", "prefetch_factor", "pin_memory")
_WATCHED_BATCHES = 4
_WATCHED_OF_TRIAL = 2  # steps that are watched; they belong to the trial's warm-up in any case
_GAPS_TO_LEAVE = 8  # a pass counts as left after this multiple of the longest distance between two reads, in steps
_LONGEST_LOOK_S = 0.05


class _DrawsRandomNumbers(Exception):
    pass


def own_settings(facts):
    return {name: facts.today[name] for name in NAMES}


class LivePass:
    """Iterator over the loader, in place of PyTorch's."""

    def __init__(self, hook, loader, facts, parking):
        self.facts = facts
        self.is_replaced = False  # True if another pass over the loader has begun
        self._hook = hook
        self._loader = loader
        self._parking = parking
        self._pools = collections.deque()  # the first pool gives batches; the last pool reads indices
        self._stream = Stream(hook.knobs.loader.indices_of(loader, facts, iter(loader._index_sampler)))
        self._seeds = None  # generator of seeds for the last pool
        self._first_seeds = None  # generator of seeds for the first pool, and its state
        self._has_had_own = False  # True after a pool with the program's own settings
        self._handed_out = 0
        self._settled_at = 0
        self._read_at_step = hook.progress.steps
        self._longest_gap = 1  # longest distance between two reads, in steps
        self._data_set_state = None
        self._watched_next = hook.loaders.watched(LivePass._next)

    def switch(self, settings, seeds):
        """Loads new batches with these settings. Batches that are already loading come first."""
        if self._pools and self._pools[-1].settings == settings:
            return
        if self._first_seeds is None:
            self._first_seeds = (seeds, seeds.get_state())
        self._seeds = seeds
        pool = self._opened(settings, self._stream)
        if self._pools:
            under_way = sum(len(before.under_way()) for before in self._pools)
            self._pools[-1].close()
            self._settled_at = self._handed_out + under_way + pool.buffered()
        self._pools.append(pool)
        self.facts.switched_settings = dict(settings)

    def _opened(self, settings, stream):
        is_own = settings == own_settings(self.facts)
        if is_own and not self._has_had_own:
            self._has_had_own = True
            seeds, state = self._first_seeds
            if seeds is self._seeds:
                seeds.set_state(state)  # the program's workers then draw the same numbers as without the hook
        has_workers = self.facts.today["num_workers"] > 0
        if has_workers:
            stream.draw_order()
        pool = self._parking.take(self._loader, settings, is_own)
        try:
            # Without workers, the order is drawn when the pass is first read.
            pool.open(stream, self._seeds, begins_when_read=not has_workers and not stream.is_begun)
        except Exception:
            stream.give_back(pool.under_way())
            pool.end()
            raise
        return pool

    @property
    def data_set(self):
        return self._loader.dataset

    def is_settled(self):
        """True if batches come at the pace of the current settings: all batches with previous settings are used up."""
        return self.is_replaced or self._handed_out >= self._settled_at or self._is_left()

    def _is_left(self):
        """True if the program has stopped reading this pass."""
        return self._hook.progress.steps - self._read_at_step > _GAPS_TO_LEAVE * self._longest_gap

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __next__(self):
        return self._watched_next(self)

    def _next(self):
        self._look_at_data_set()
        while True:
            pool = self._pools[0]
            try:
                batch = self._next_of(pool)
                break
            except StopIteration:
                if len(self._pools) == 1:
                    self._settled_at = self._handed_out
                    raise
                self._parking.put(self._pools.popleft())
            except Exception as error:
                if pool.is_own:
                    raise
                self._take_back(pool, error)
        self._handed_out += 1
        step = self._hook.progress.steps
        self._longest_gap = max(self._longest_gap, step - self._read_at_step)
        self._read_at_step = step
        if self._handed_out < _WATCHED_BATCHES:
            self._data_set_state = self._state_of_data_set()
        if self._handed_out <= _WATCHED_BATCHES:
            self.facts.batch_bytes = max(self.facts.batch_bytes, _bytes_in(batch))
        return batch

    def _look_at_data_set(self):
        """Refuses workers if the program changes the data set during the pass, since workers have an old copy."""
        before, self._data_set_state = self._data_set_state, None
        if before is None:
            return
        now = self._state_of_data_set()
        if now is not None and now != before:
            self._refuse("the program changes its data set while it reads it, which workers would not see")

    def _state_of_data_set(self):
        """Returns the data set's state; None if unknown."""
        if not self.facts.compares_data_set:
            return None
        begun_s = perf_counter()
        try:
            return state_of(self.data_set)
        except Exception:  # another thread may be changing it
            return None
        finally:
            self.facts.compares_data_set = perf_counter() - begun_s < _LONGEST_LOOK_S

    def _next_of(self, pool):
        if pool.workers:
            return pool.next_batch()
        # Without workers, the data set draws from the program's own random numbers.
        if not pool.is_own and pool.handed_out < _WATCHED_OF_TRIAL:
            self._stream.draw_order()  # the program's own workers would have drawn the order already
            before, state = snapshot(), RandomState(usual_sources(self._loader.generator))
            batch = pool.next_batch()
            if snapshot() != before:
                state.restore()
                pool.put_back()
                raise _DrawsRandomNumbers("the data set draws random numbers: without workers it would draw the program's")
            return batch
        # The first batch also draws the sampler's seed, so do not check it.
        if not 1 <= self._handed_out < _WATCHED_BATCHES:
            return pool.next_batch()
        before = snapshot()
        batch = pool.next_batch()
        if snapshot() != before:
            self._refuse("the data set draws random numbers: workers would draw others")
        return batch

    def _take_back(self, pool, error):
        """Called if a trial's settings fail. Loads the pending batches again with the program's own settings."""
        self._refuse(last_line(error), NAMES)
        indices = pool.under_way()
        pool.end()
        settings = own_settings(self.facts)
        if pool is not self._pools[-1]:
            self._pools[0] = self._opened(settings, Stream(indices))
            return
        self._stream.give_back(indices)
        self._pools[-1] = self._opened(settings, self._stream)
        self._settled_at = self._handed_out
        self.facts.switched_settings = settings

    def _refuse(self, why, names=NAMES[:2]):
        self.facts.refused.update(dict.fromkeys(names, why))
        self._hook.survey_after_step()

    def __del__(self):
        # The pass is over or abandoned; its workers wait for the next one.
        for pool in self._pools:
            self._parking.put(pool)


def _bytes_in(batch):
    dense = filter(tensors.is_dense, tensors.all_in(batch))
    return sum(tensor.numel() * tensor.element_size() for tensor in dense)
