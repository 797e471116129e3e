# SPDX-License-Identifier: Apache-2.0
"""Workers with settings of their own, which read an epoch's indices through a view that can be closed:
a closed one looks like the end of the epoch, so what is under way comes out in order and the workers
wait for the next."""

import collections
import copy

_MOST_PARKED = 2


class _Reading:
    def __init__(self, stream):
        self._stream = stream
        self.begun = collections.deque()  # and not handed out
        self.closed = False

    def __iter__(self):
        return self

    def __next__(self):
        if self.closed:
            raise StopIteration
        self.begun.append(next(self._stream))
        return self.begun[-1]


class _View:
    """Stands where the loader has its index sampler."""

    def __init__(self, sampler):
        self._sampler = sampler
        self.reading = None

    def __iter__(self):
        return self.reading

    def __len__(self):
        return len(self._sampler)


class Pool:
    """A copy of the loader, so that the program's own is never touched, and its iterator."""

    def __init__(self, loader, settings):
        self.settings = settings
        self.iterator = None
        self._view = _View(loader._index_sampler)
        self._loader = copy.copy(loader)
        attributes = self._loader.__dict__  # guarded by __setattr__ after construction
        attributes["_iterator"] = None
        attributes["batch_sampler" if loader.batch_sampler is not None else "sampler"] = self._view
        attributes.update(settings)
        attributes["persistent_workers"] = self.workers > 0
        if self.workers == 0:
            attributes["timeout"] = 0  # it is the workers' and refused without them

    @property
    def workers(self):
        return self.settings["num_workers"]

    def buffered(self):
        """Batches that wait in it at most."""
        return self.workers * (self.settings["prefetch_factor"] or 2) if self.workers else 0

    def under_way(self):
        """Batches that it has begun and not handed out."""
        iterator = self.iterator
        return iterator._send_idx - iterator._rcvd_idx if self.workers else 0

    def handed_out(self):
        self._view.reading.begun.popleft()

    def begun(self):
        """The indices of the batches that it has begun and not handed out."""
        return list(self._view.reading.begun)

    def open(self, stream, generator):
        """Reads `stream` from now on. New workers draw their base seed from `generator`."""
        self._view.reading = _Reading(stream)
        if self.workers and self.iterator is not None:
            self.iterator._reset(self._loader)
            return
        self._loader.__dict__["generator"] = generator
        self.iterator = self._loader._get_iterator()

    def close(self):
        self._view.reading.closed = True

    def end(self):
        if self.workers and self.iterator is not None:
            self.iterator._shutdown_workers()
        self.iterator = None


class Parking:
    """Pools of one loader that wait to be used again; the longest unused goes first."""

    def __init__(self):
        self._pools = []

    def take(self, loader, settings):
        for pool in self._pools:
            if pool.settings == settings:
                self._pools.remove(pool)
                return pool
        return Pool(loader, settings)

    def put(self, pool):
        if pool.workers:
            self._pools.append(pool)
        while len(self._pools) > _MOST_PARKED:
            self._pools.pop(0).end()

    def clear(self):
        while self._pools:
            self._pools.pop().end()
