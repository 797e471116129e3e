# SPDX-License-Identifier: Apache-2.0
"""Keeps the time at which the order of samples is drawn. Without workers, it is drawn when a pass is first read.
Workers draw it when the pass is made. Random numbers that a program draws in between would differ."""

import collections
import threading
import weakref

import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, dataloader
from torch.utils.data.distributed import DistributedSampler

_MOST_READ_AHEAD = 1024  # batches whose random numbers are kept
_making = threading.Lock()


def _sampler(loader):
    """Returns the sampler that decides the order."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    return getattr(batch_sampler if type(batch_sampler) is BatchSampler else loader, "sampler", None)


def generator_of_order(loader):
    """Returns the generator of the order, unless it is the program's default generator; otherwise None. A sampler may
    have another generator than its loader."""
    generator = getattr(_sampler(loader), "generator", None) or getattr(loader, "generator", None)
    return None if generator is torch.default_generator else generator


def generator_drawn_on(loader):
    """Returns the program's generator of a RandomSampler; otherwise None. Such a sampler draws not only the order. It
    also draws once at the end of a pass or, with replacement, during the pass."""
    sampler = _sampler(loader)
    return sampler.generator if type(sampler) is RandomSampler else None


class ReadOrder:
    """Indices of a pass, and the state of the sampler's generator after each read. Workers read ahead. If the program
    leaves the pass early, the workers have drawn more than the program would have. Calls `drawn_by_other` if other code
    has drawn from the generator between two reads."""

    def __init__(self, indices, generator, drawn_by_other):
        self.generator = generator
        self._indices = indices
        self._drawn_by_other = drawn_by_other
        self._reads = 0
        self._states = collections.deque([(0, generator.get_state())], _MOST_READ_AHEAD)

    def __iter__(self):
        return self

    def __next__(self):
        if self._keep_state() and self._reads:
            self._drawn_by_other()
        try:
            return next(self._indices)
        finally:
            self._reads += 1
            self._keep_state()

    def put_back(self, reads):
        """Sets the generator to its state after `reads` reads, unless other code has drawn from it since then."""
        if not torch.equal(self._states[-1][1], self.generator.get_state()):
            self._drawn_by_other()
            return
        while self._reads < reads and next(self, None) is not None:
            pass
        self.generator.set_state(next(state for made, state in reversed(self._states) if made <= reads))

    def _keep_state(self):
        """Keeps the generator's state. Returns True if it has changed."""
        state = self.generator.get_state()
        if torch.equal(self._states[-1][1], state):
            return False
        self._states.append((self._reads, state))
        return True


def draws_from_program(loader):
    """True if the order comes from the program's default generator, as far as is known."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    own = _sampler(loader) if batch_sampler is None or type(batch_sampler) is BatchSampler else batch_sampler
    if own is None or type(own) in (SequentialSampler, DistributedSampler):
        return False
    return getattr(own, "generator", None) in (None, torch.default_generator)


def made_unread(make):
    """Wraps `make`, which makes a pass with workers. The workers then start when the pass is first read, in any thread."""

    def make_unread(loader):
        cls = dataloader._MultiProcessingDataLoaderIter
        maker = threading.get_ident()
        with _making:
            put_index = cls._try_put_index
            # Other threads may read other passes during this time.
            cls._try_put_index = lambda iterator: None if threading.get_ident() == maker else put_index(iterator)
            try:
                iterator = make(loader)
            finally:
                cls._try_put_index = put_index
        reference = weakref.ref(iterator)

        def first_data():
            iterator = reference()
            del iterator._next_data  # restores the method of its class
            for _ in range(iterator._prefetch_factor * iterator._num_workers):
                iterator._try_put_index()
            return iterator._next_data()

        iterator._next_data = first_data
        return iterator

    return make_unread
