# SPDX-License-Identifier: Apache-2.0
"""Pools of workers with their own settings. A pool reads an epoch's indices through a view that can be closed. A closed
view looks like the end of the epoch. Pending batches then come out in order, and the workers wait for the next epoch.
"""

import collections
import itertools
import weakref
from time import perf_counter

from torch.utils.data._utils import signal_handling

from steptune_hook.pytorch.knobs import worker_start

_MOST_PARKED = 2
_LONGEST_BATCH_S = 30  # workers that return no batch for this long hang
_BETWEEN_LOOKS_S = 1.0  # to check that the workers are alive


class Stream:
    """Indices of batches. Pools give back unused indices, which then come first."""

    def __init__(self, indices):
        self._indices = iter(indices)
        self._given_back = collections.deque()
        self.is_begun = False  # True if its sampler has drawn the order

    def __next__(self):
        self.is_begun = True
        return self._given_back.popleft() if self._given_back else next(self._indices)

    def draw_order(self):
        """Draws the order now. A sampler draws its seed when it is first read."""
        self.is_begun = True
        if not self._given_back:
            self._given_back.extend(itertools.islice(self._indices, 1))

    def give_back(self, indices):
        self._given_back.extendleft(reversed(indices))


class _Reading:
    def __init__(self, stream, closed):
        self._stream = stream
        self.closed = closed
        self.under_way = collections.deque()  # indices that were read but not handed out as a batch

    def __iter__(self):
        return self

    def __next__(self):
        if self.closed:
            raise StopIteration
        self.under_way.append(next(self._stream))
        return self.under_way[-1]


class _View:
    """View of a stream, in place of the loader's sampler."""

    def __init__(self, sampler):
        self._sampler = sampler
        self.reading = None

    def __iter__(self):
        return self.reading

    def __len__(self):
        return len(self._sampler)


class Pool:
    """A copy of the loader, and its iterator. The program's own loader is never touched. `is_own`: True if the settings
    are the program's."""

    def __init__(self, loader, settings, is_own):
        self.settings = settings
        self.is_own = is_own
        self.iterator = None
        self.handed_out = 0  # since it was opened
        self._begins_when_read = False
        self._last = None
        self._view = _View(loader._index_sampler)
        # Not by `copy`, since the program's class may define how it is copied.
        self._loader = object.__new__(type(loader))
        attributes = self._loader.__dict__  # guarded by __setattr__ after construction
        attributes.update(loader.__dict__)
        attributes["_iterator"] = None
        attributes["batch_sampler" if loader.batch_sampler is not None else "sampler"] = self._view
        attributes.update(settings)
        attributes["persistent_workers"] = self.workers > 0
        context = worker_start.context(loader)
        if context is not None and self.workers > 0:
            attributes["_DataLoader__multiprocessing_context"] = context
        if self.workers == 0:
            attributes["timeout"] = 0  # a timeout is not allowed without workers

    @property
    def workers(self):
        return self.settings["num_workers"]

    def buffered(self):
        """Returns the largest number of batches that wait in the pool."""
        return self.workers * (self.settings["prefetch_factor"] or 2) if self.workers else 0

    def under_way(self):
        """Returns the indices of batches that were begun but not handed out, in order."""
        return list(self._view.reading.under_way) if self._view.reading is not None else []

    def next_batch(self):
        under_way = self._view.reading.under_way
        if self._begins_when_read:
            self._begin()
        if not self.workers:
            under_way.clear()  # from a batch that failed
        try:
            batch = next(self.iterator)
        except StopIteration:
            raise
        except Exception:
            if self.is_own and under_way:
                under_way.popleft()  # without the hook, a failed batch counts as read, too
            raise
        if under_way:
            self._last = under_way.popleft()
        self.handed_out += 1
        return batch

    def put_back(self):
        """Makes the last batch pending again."""
        self._view.reading.under_way.appendleft(self._last)

    def open(self, stream, generator, begins_when_read):
        """Reads `stream` from now on. If the pool has workers and `begins_when_read`, starts with its first batch. New
        workers draw their base seed from `generator`."""
        self._begins_when_read = begins_when_read and self.workers > 0
        self._view.reading = _Reading(stream, self._begins_when_read)
        self.handed_out = 0
        if self.workers and self.iterator is not None:
            self.iterator._reset(self._loader)
            self._raise_where_workers_die(self.is_own)
            return
        self._loader.__dict__["generator"] = generator
        self.iterator = self._loader._get_iterator()
        if self.workers and not self.is_own:
            self._raise_where_workers_die(False)
            self.iterator._get_data = _data_within(self.iterator, self._loader.timeout or _LONGEST_BATCH_S)

    def _raise_where_workers_die(self, wanted):
        """Sets whether a worker's death raises an error at once, wherever the program is, as in PyTorch. A read of a
        batch notices it anyway."""
        iterator = self.iterator
        if iterator._worker_pids_set == wanted:
            return
        if wanted:
            signal_handling._set_worker_pids(id(iterator), tuple(worker.pid for worker in iterator._workers))
        else:
            signal_handling._remove_worker_pids(id(iterator))
        iterator._worker_pids_set = wanted

    def park(self):
        """Keeps the pool so that it can be opened again."""
        self._raise_where_workers_die(False)

    def has_all_workers(self):
        return all(worker.is_alive() for worker in self.iterator._workers)

    def _begin(self):
        self._begins_when_read = False
        self._view.reading.closed = False
        for _ in range(self.buffered()):
            self.iterator._try_put_index()

    def close(self):
        self._begins_when_read = False
        self._view.reading.closed = True

    def end(self):
        iterator, self.iterator = self.iterator, None
        if self.workers and iterator is not None:
            try:
                iterator._shutdown_workers()
            except Exception:  # the workers may be what failed
                pass


def _data_within(iterator, longest_s):
    """Returns a replacement of the iterator's `_get_data`. It raises soon after a worker was killed, and also if no
    batch comes within `longest_s`."""
    reference = weakref.ref(iterator)

    def get_data():
        iterator = reference()
        end_s = perf_counter() + longest_s
        while perf_counter() < end_s:
            has_come, data = iterator._try_get_data(min(_BETWEEN_LOOKS_S, longest_s))
            if has_come:
                return data
        raise RuntimeError("DataLoader timed out after %g seconds" % longest_s)

    return get_data


class Parking:
    """Pools of one loader that wait to be used again. The pool that was unused for longest is dropped first."""

    def __init__(self):
        self._pools = []

    def take(self, loader, settings, is_own):
        for pool in self._pools:
            if pool.settings == settings:
                self._pools.remove(pool)
                if pool.has_all_workers():
                    return pool
                pool.end()
                break
        return Pool(loader, settings, is_own)

    def put(self, pool):
        if pool.workers and pool.iterator is not None:
            pool.park()
            self._pools.append(pool)
        while len(self._pools) > _MOST_PARKED:
            self._pools.pop(0).end()

    def clear(self):
        while self._pools:
            self._pools.pop().end()
