# SPDX-License-Identifier: Apache-2.0
"""Gives this rank its part of each batch."""

import collections


class SharedBatches:
    """Replaces a loader's batch sampler. All ranks must draw the same batches. If the ranks cannot share a batch
    equally, it is padded with its first indices, as PyTorch's DistributedSampler pads a data set. Otherwise ranks with
    fewer steps would keep the other ranks waiting.

    Until a pass is known to train, each rank gets the whole batch, since an evaluation needs all of it."""

    def __init__(self, batches, rank, world_size):
        self.whole = batches
        self._rank = rank
        self._world_size = world_size
        self._trained = False
        self._divides = False
        self._sizes = collections.deque()  # sizes of current batches: (number of indices on all ranks, on this rank)

    def pass_begins(self, trains):
        """Called before the pass is iterated over. `trains`: True if it probably trains."""
        self._divides = trains and self._trained

    def trained(self):
        """Called when a backward has followed one of the batches of the pass."""
        self._trained = self._divides = True

    def samples_of_all(self, samples):
        """Returns the samples of all ranks in the next batch of the pass. `samples`: of this rank."""
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
            raise AttributeError(name)  # during unpickling, for example
        return getattr(self.whole, name)
