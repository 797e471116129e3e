# SPDX-License-Identifier: Apache-2.0
"""Handles batches that are fetched before the previous one is trained on: accelerate, Hugging Face's Trainer,
prefetchers."""

from steptune_hook.pytorch import tensors


class PrefetchedBatch:
    """Keeps the batch that was fetched ahead: `batch` is (loader, samples, samples of all ranks), or None. Lists of
    fetched batches have elements of this form. Hugging Face's Trainer fetches all micro-batches of a step before the
    first forward. `of_step` has the micro-batches of the step's later forwards."""

    def __init__(self):
        self.batch = None
        self.of_step = []
        self._backwards = 0  # backwards of the step when a micro-batch was last taken
        self._abandoned = []  # fetched batches of abandoned passes that nobody reads any more

    def restarts(self, loader, fetched):
        """Called when another pass over the loader begins. Drops the batches of an abandoned pass, and of a pass that
        was read to its end without training."""
        self.of_step = [batch for batch in self.of_step if batch[0] is not loader]
        if not loader.is_trained_on_in_pass and not loader.is_exhausted and not loader.is_read():
            self._abandoned = [batch for batch in fetched if batch[0] is loader]
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

    def forget_abandoned(self, fetched, is_next_to_come):
        """Drops batches of abandoned passes if a newer pass over the same loader is being read, since the forward uses
        that pass. If each batch has its own pass (a task's support and query), no pass is being read, and nothing is
        dropped. `is_next_to_come`: the forward's own batch is not in `fetched` yet."""
        abandoned, self._abandoned = self._abandoned, []
        abandoned = [batch for batch in abandoned if batch[0].is_read()]
        remaining = [batch for batch in fetched if all(batch is not other for other in abandoned)]
        if remaining or is_next_to_come:
            fetched[:] = remaining

    def step_ended(self):
        """Returns the micro-batches that the step has not used one by one. Its forwards then use several micro-batches
        at once."""
        remaining, self.of_step = self.of_step, []
        for batch in remaining:
            batch[0].reads_step_ahead = batch[0].is_fetched_ahead = False
        return remaining

    def divide(self, fetched, inputs, is_fed, backwards):
        """Leaves in `fetched` the batches that a training forward with these inputs uses. `is_fed`: True if the current
        step already has its batch. `backwards`: number of backwards in the current step."""
        if self.of_step and not fetched:
            if backwards > self._backwards:  # otherwise another forward of the same micro-batch
                self._backwards = backwards
                fetched.append(self.of_step.pop(0))
            return
        if self.batch is not None:
            if not fetched and is_fed and not self.batch[0].is_exhausted:
                return  # another forward of the same step
            self.batch[0].has_trained_ahead = len(fetched) < 2
            fetched.insert(0, self.batch)
            self.batch = None
        loader, samples, _ = fetched[0]
        if loader.reads_step_ahead and len(fetched) > 1 and all(batch[0] is loader for batch in fetched):
            self._take_first(loader, fetched, backwards)
        elif len(fetched) > 2:
            loader.is_fetched_ahead = False  # several batches for each forward
        elif len(fetched) == 2 and fetched[1][0] is loader:
            if loader.is_fetched_ahead is None and samples > 0:
                loader.is_fetched_ahead = tensors.samples_in(inputs) == samples
            if loader.is_fetched_ahead:
                self.batch = fetched.pop()

    def _take_first(self, loader, fetched, backwards):
        """Leaves the first micro-batch of a step in `fetched`. If the pass is not over, the last batch belongs to the
        next step."""
        loader.is_fetched_ahead = loader.has_trained_ahead = True
        self._backwards = backwards
        self.of_step = fetched[1:]
        del fetched[1:]
        if not loader.is_exhausted:
            self.batch = self.of_step.pop()
