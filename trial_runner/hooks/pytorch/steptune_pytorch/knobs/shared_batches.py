# SPDX-License-Identifier: Apache-2.0
"""This rank's part of each batch."""

import collections


class SharedBatches:
    """In place of a loader's batch sampler. All ranks must draw the same batches. One that does not
    divide is filled up from its own begin, as PyTorch's DistributedSampler fills up a data set: ranks
    that had fewer steps or none would keep the others waiting.

    Until it is known that a pass trains, each rank has the whole batch: what evaluates needs all."""

    def __init__(self, batches, rank, world_size):
        self.whole = batches
        self._rank = rank
        self._world_size = world_size
        self._trained = False
        self._divides = False
        self._sizes = collections.deque()  # of the batches under way: (indices of all ranks, of this one)

    def pass_begins(self, trains):
        """Before the pass is iterated over. `trains`: as far as is known."""
        self._divides = trains and self._trained

    def trained(self):
        """A backward has followed one of its batches."""
        self._trained = self._divides = True

    def samples_of_all(self, samples):
        """Of the next batch of the pass, of which this rank has `samples`."""
        if not self._sizes:
            return samples
        of_all, own = self._sizes.popleft()
        return samples if own == 0 else samples * of_all // own

    def __iter__(self):
        self._sizes = collections.deque()
        return self._parts(self._sizes)

    def _parts(self, sizes):
        for batch in self.whole:
            indices = list(batch)
            part = self._part_of(indices) if self._divides else indices
            sizes.append((len(indices), len(part)))
            yield part

    def _part_of(self, indices):
        lacking = -len(indices) % self._world_size
        filled = indices + [indices[i % len(indices)] for i in range(lacking)]
        return filled[self._rank :: self._world_size]

    def __len__(self):
        return len(self.whole)

    def __getattr__(self, name):
        if name.startswith("__") or name == "whole":
            raise AttributeError(name)  # while it is being unpickled, say
        return getattr(self.whole, name)
