# SPDX-License-Identifier: Apache-2.0
"""This rank's part of each batch."""


class SharedBatches:
    """In place of a loader's batch sampler. All ranks must draw the same batches. One that does not
    divide is filled up from its own begin, as PyTorch's DistributedSampler fills up a data set: ranks
    that had fewer steps or none would keep the others waiting."""

    def __init__(self, batches, rank, world_size):
        self._batches = batches
        self._rank = rank
        self._world_size = world_size

    def __iter__(self):
        for batch in self._batches:
            indices = list(batch)
            lacking = -len(indices) % self._world_size
            filled = indices + [indices[i % len(indices)] for i in range(lacking)]
            yield filled[self._rank :: self._world_size]

    def __len__(self):
        return len(self._batches)

    def __getattr__(self, name):
        if name.startswith("__") or name == "_batches":
            raise AttributeError(name)  # while it is being unpickled, say
        return getattr(self._batches, name)
