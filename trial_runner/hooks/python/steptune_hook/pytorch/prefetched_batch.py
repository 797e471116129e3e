# SPDX-License-Identifier: Apache-2.0
"""Handles batches that are fetched before the previous one is trained on: accelerate, Hugging Face's Trainer,
prefetchers."""

from steptune_hook.pytorch import tensors


class PrefetchedBatch:
    """Keeps the batch that was fetched ahead: `batch` is (loader, samples, samples of all ranks), or None. Fetched
    batches are lists of these."""

    def __init__(self):
        self.batch = None
        self._looked_at = []  # fetched batches of abandoned passes that nobody reads any more

    def restarts(self, loader, fetched):
        """Called when another pass over the loader begins. Drops the batches of an abandoned pass, and of a pass that
        was read to its end without training."""
        if not loader.is_trained_on_in_pass and not loader.is_exhausted and not loader.is_read():
            self._looked_at = [batch for batch in fetched if batch[0] is loader]
        if loader.is_exhausted and not loader.is_trained_on_in_pass:
            fetched[:] = [batch for batch in fetched if batch[0] is not loader]
        if loader.is_trained_on_in_pass and not loader.is_exhausted:
            fetched[:] = [batch for batch in fetched if batch[0] is not loader]
            if self.batch is not None and self.batch[0] is loader:
                self._give_up(loader, fetched)
        loader.is_trained_on_in_pass = loader.is_exhausted = False

    def _give_up(self, loader, fetched):
        if not loader.has_trained_ahead:
            # The pass had a single step, which used both batches, so this one is counted late.
            loader.is_fetched_ahead = False
            fetched.append(self.batch)
        self.batch = None

    def forget_looked_at(self, fetched, is_next_to_come):
        """Drops batches that the forward does not use: those of passes before the current one. The current pass is
        being read. If each batch has its own pass (a task's support and query), none is. `is_next_to_come`: the
        forward's own batch is not in `fetched` yet."""
        looked_at, self._looked_at = self._looked_at, []
        looked_at = [batch for batch in looked_at if batch[0].is_read()]
        left = [batch for batch in fetched if all(batch is not other for other in looked_at)]
        if left or is_next_to_come:
            fetched[:] = left

    def divide(self, fetched, inputs, is_fed):
        """Leaves in `fetched` the batches that a training forward with these inputs uses. `is_fed`: the current step
        already has its batch."""
        if self.batch is not None:
            if not fetched and is_fed and not self.batch[0].is_exhausted:
                return  # another forward of the same step
            self.batch[0].has_trained_ahead = len(fetched) < 2
            fetched.insert(0, self.batch)
            self.batch = None
        loader, samples, _ = fetched[0]
        if len(fetched) > 2:
            loader.is_fetched_ahead = False  # several batches for each forward
        elif len(fetched) == 2 and fetched[1][0] is loader:
            if loader.is_fetched_ahead is None and samples > 0:
                loader.is_fetched_ahead = tensors.samples_in(inputs) == samples
            if loader.is_fetched_ahead:
                self.batch = fetched.pop()
