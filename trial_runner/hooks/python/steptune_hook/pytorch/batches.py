# SPDX-License-Identifier: Apache-2.0
"""Batches that loaders have returned, but on which no step has trained yet. Distinguishes batches of steps from batches
of evaluations."""

import weakref

import torch

from steptune_hook.pytorch import tensors
from steptune_hook.pytorch.prefetched_batch import PrefetchedBatch


class Batches:
    """`fetched` is a list of (loader, samples, samples on all ranks). `of_all_ranks(loader, samples)` returns the
    samples of a batch on all ranks, given its samples on this rank."""

    def __init__(self, progress, of_all_ranks):
        self.count = 0
        self.fetched = []
        self.prefetched = PrefetchedBatch()
        self.loaders_of_forward = []  # loaders of the batches in the last training forward
        # The last pass, if no step trained on it: its loader, the end of the step before the pass, the end of the pass,
        # and the clock's totals at that end.
        self.only_read = None
        self._progress = progress
        self._of_all_ranks = of_all_ranks
        self._no_grad_batch = None  # the last batch, if it was fetched without gradients
        self._evaluated_since_fetch = False
        self._evaluated_fetched = False

    def forget_all(self):
        del self.fetched[:]
        self.prefetched = PrefetchedBatch()
        self._no_grad_batch = None

    def waits_for_forward(self):
        """True if the last batch was fetched without gradients, so a forward decides whether a step trains on it."""
        return self._no_grad_batch is not None

    def add(self, loader, batch):
        """Called when a loader has returned a batch. Returns True if the batch belongs to an evaluation, unless a
        training forward receives it later."""
        samples = loader.count_samples(batch)
        samples_of_all = self._of_all_ranks(loader, samples)
        if loader.training is None and not torch.is_grad_enabled():
            # Record this even if the evaluation's module is not watched. The same loader may train later.
            loader.is_evaluated_on = True
            self._no_grad_batch = _NoGradBatch(loader, batch, samples, samples_of_all)
            return True
        self._append(loader, samples, samples_of_all)
        return False

    def _append(self, loader, samples, samples_of_all):
        self.count += 1
        self.fetched.append((loader, samples, samples_of_all))

    def evaluated(self):
        self._evaluated_since_fetch = True
        # Otherwise the evaluation may use the batch without gradients
        self._evaluated_fetched |= self._no_grad_batch is None

    def forget_evaluated(self):
        """Drops batches that only an evaluation has seen. Called when a loader has returned another batch or ended."""
        self._no_grad_batch = None
        if not self._evaluated_since_fetch:
            return
        self._evaluated_since_fetch = False
        evaluated_fetched, self._evaluated_fetched = self._evaluated_fetched, False
        if not evaluated_fetched or not self.fetched:
            return
        for loader, _, _ in self.fetched:
            if loader.training is None:
                loader.training = False
        # Keep batches that training loaders fetched before the evaluation.
        evaluated = self.fetched[-1][0]
        self.fetched[:] = [b for b in self.fetched if b[0].training and b[0] is not evaluated]

    def give_to_forward(self, inputs, named_inputs):
        """Chooses the batches that a training forward with these inputs uses, and marks them as trained on."""
        batch, self._no_grad_batch = self._no_grad_batch, None
        if batch is not None and batch.is_given_to((inputs, named_inputs), self._evaluated_since_fetch):
            self._append(batch.loader, batch.samples, batch.samples_of_all)
        if self.fetched and self.fetched[0][0].may_give_samples:
            self._count_items(tensors.samples_in_inputs(inputs, named_inputs))
        if self.prefetched.batch is not None or self.prefetched.of_step or len(self.fetched) > 1:
            self.forget_abandoned(tensors.samples_in_inputs(inputs, named_inputs))
            progress = self._progress
            self.prefetched.divide(self.fetched, (inputs, named_inputs), progress.is_fed, progress.backwards)
        self._reconsider_loader()
        self.take()

    def give_to_step(self):
        """Marks the batches of a step without a watched forward as trained on. In a step with a watched forward, the
        remaining batches belong to the next step."""
        if not self._progress.is_fed and not self._progress.training_forwards:
            self.forget_abandoned()
            self.take()
        elif self._evaluated_since_fetch:
            self._evaluated_since_fetch = self._evaluated_fetched = False
            self.fetched[:] = [batch for batch in self.fetched if batch[0].training]

    def give_remaining_to_step(self):
        """Called at a step's end. Marks the micro-batches that no forward of the step used singly as trained on."""
        if self.prefetched.of_step:
            self.fetched[:0] = self.prefetched.step_ended()
            self.take()

    def take(self):
        """Marks the fetched batches as trained on."""
        count = self._progress.sample_count
        if self.fetched:
            self.loaders_of_forward = []
        for loader, samples, samples_of_all in self.fetched:
            self.loaders_of_forward.append(loader)
            if loader.training is not False:
                loader.is_trained_on()
                loader.is_trained_on_in_pass = True
                self._progress.is_fed = True
                count.total += samples
                count.total_of_all += samples_of_all
                count.last_batch = (samples, samples_of_all)
                if count.by != "given":
                    count.by = "loader"
        del self.fetched[:]
        self._evaluated_since_fetch = self._evaluated_fetched = False

    def forget_abandoned(self, samples_of_forward=None, next_read=None):
        """Drops batches of loaders that nobody reads any more and that are not known to train. Keeps the batches of the
        last loader. After the first step, drops only batches of loaders that were evaluated on, or whose
        pass was read to its end. Drops none if the forward uses all fetched batches."""
        fetched = self.fetched
        if len(fetched) > 1 and samples_of_forward == sum(batch[1] for batch in fetched):
            self.only_read = None
            return
        self.prefetched.forget_abandoned(fetched, is_next_to_come=next_read is not None)
        last = next_read or (fetched[-1][0] if fetched else None)
        has_stepped = self._progress.steps > 0

        def is_abandoned(loader):
            may_be = loader.training is None and (not has_stepped or loader.is_evaluated_on or loader.is_exhausted)
            return may_be and loader is not last and not loader.is_read()

        remaining = [batch for batch in fetched if not is_abandoned(batch[0])]
        read, self.only_read = self.only_read, None
        if read is not None and len(remaining) < len(fetched) and all(batch[0] is not read[0] for batch in remaining):
            self._progress.evaluations.report_past(*read[1:])
        fetched[:] = remaining

    def is_still_read(self):
        """True if the program still reads a pass over the last trained batches. A batch may then serve several steps.
        """
        return any(loader.is_read() for loader in self.loaders_of_forward)

    def _reconsider_loader(self):
        """Corrects a loader that was classified as an evaluation's, because an evaluation came between its batch and
        its forward. This time, no evaluation came between them."""
        loaders = {batch[0] for batch in self.fetched}
        if len(loaders) == 1 and not self._evaluated_since_fetch:
            (loader,) = loaders
            if loader.training is False:
                loader.training = None

    def _count_items(self, samples):
        """Corrects the counts if each item of the loader is a sample: a forward with `samples` samples used as many
        items."""
        loader = self.fetched[0][0]
        if samples == len(self.fetched) and all(batch[0] is loader for batch in self.fetched):
            loader.gives_samples()
            self.fetched[:] = [(loader, 1, self._of_all_ranks(loader, 1))] * samples


class _NoGradBatch:
    """A batch that was fetched while gradients were disabled. It belongs to an evaluation, unless a training forward
    receives it. `samples_of_all`: samples on all ranks. Keeps none of the batch's memory."""

    def __init__(self, loader, batch, samples, samples_of_all):
        self.loader = loader
        self.samples = samples
        self.samples_of_all = samples_of_all
        self._tensors = [weakref.ref(tensor) for tensor in _memories(batch)]

    def is_given_to(self, inputs, evaluated_since):
        """True if a training forward with these inputs uses this batch. `evaluated_since`: True if a forward without
        gradients came in between, because it may have used the batch."""
        given = _memories(inputs)
        held = [tensor() for tensor in self._tensors]
        if any(tensor is other for tensor in given for other in held):
            return True
        # Copies of the batch (moved to a device, normalised) are recognised by their number of samples.
        return not evaluated_since and self.samples > 0 and tensors.samples_in(inputs) == self.samples


def _memories(value):
    """Returns the tensors in the value, and the base of each view."""
    return [tensor if tensor._base is None else tensor._base for tensor in tensors.all_in(value)]
