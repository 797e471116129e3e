# SPDX-License-Identifier: Apache-2.0
"""Norms of the gradient after the first and after the last micro-batch of a step, now and then."""

import collections
from time import perf_counter

import torch

from steptune_pytorch.noise_estimate import NoiseEstimate

STEPS_BETWEEN = 4
MOST_SHARE = 0.001  # of the time of training
_FIRST_LOOKS = 16  # may take more of it, so that a short trial tells something, too
_FIRST_SHARE = 10  # times as much
_MOST_UNREAD = 64


class _Sample:
    """A step of which the gradient is looked at."""

    def __init__(self, gradients, backwards):
        self.gradients = gradients
        self.backwards = backwards
        self.norms = []  # before the first, after the first, after the last backward
        self.samples = 0
        self.forwards = 0
        self._witness = None  # one parameter, its gradient and how often that was written
        self._witnessed = None
        self._version = 0

    def remember(self):
        """False if there is nothing yet."""
        if self._witness is None:
            self._witness = self.gradients.smallest()
        if self._witness is None or self._witness.grad is None:
            return False
        self._witnessed = self._witness.grad
        self._version = self._witnessed._version
        return True

    def was_touched(self):
        """Zeroed, clipped or replaced since the last backward: what is there is no sum."""
        now = self._witness.grad
        return now is not self._witnessed or now._version != self._version


class MicroBatches:
    """`find_gradients()` gives the gradients of the program, None where nothing sound can be said."""

    def __init__(self, find_gradients):
        self._find_gradients = find_gradients
        self._estimate = NoiseEstimate()
        self._sample = None
        self._unread = collections.deque(maxlen=_MOST_UNREAD)
        self._spent_s = 0.0
        self._looks = 0
        self.next_step = STEPS_BETWEEN  # the next look is not before so many steps

    @property
    def is_looking(self):
        """Whether the gradient of this step is looked at."""
        return self._sample is not None

    def backward_begins(self, progress):
        if progress.backwards == 0:
            if self._is_due(progress):
                self._spend(self._begin, progress)
        elif self._sample is not None and self._sample.was_touched():
            self._sample = None

    def backward_ended(self, progress):
        """`progress.backwards` counts it."""
        if self._sample is None:
            return
        if not self._sample.remember():
            self._sample = None
        elif progress.backwards == 1:
            self._spend(self._look_first, progress)
        elif progress.backwards == self._sample.backwards:
            self._spend(self._look_last, progress)

    def step_ended(self, progress):
        sample, self._sample = self._sample, None
        if sample is None or len(sample.norms) < 3:
            return
        if progress.backwards_per_step == sample.backwards:
            few = sample.samples * sample.gradients.ranks_of_first
            many = sample.samples * sample.backwards * sample.gradients.ranks
            self._unread.append((few, many, sample.backwards, sample.norms))

    def dropped(self):
        """The step came to nothing."""
        self._sample = None

    def metrics(self):
        """Reads what was kept: waits for a GPU, as reading the loss of a line does."""
        unread = list(self._unread)
        self._unread.clear()
        if unread:
            norms = torch.stack([norm for _, _, _, norms in unread for norm in norms])
            for (few, many, backwards, _), of_step in zip(unread, norms.view(-1, 3).tolist()):
                before, first, last = of_step
                # Gradients that were there before the step belong to other samples.
                if before == 0.0:
                    # The sum over the micro-batches, in units in which the first one is its mean.
                    self._estimate.add(few, first, many, last / backwards)
        scale = self._estimate.samples()
        return {} if scale is None else {"gradient_noise_scale": scale}

    def _is_due(self, progress):
        if progress.backwards_per_step < 2 or progress.steps < self.next_step:
            return False
        self.next_step = progress.steps + STEPS_BETWEEN
        share = MOST_SHARE * (_FIRST_SHARE if self._looks < _FIRST_LOOKS else 1)
        return self._spent_s <= share * progress.clock.confirmed_training_s()

    def _spend(self, look, progress):
        begin_s = perf_counter()
        with torch.no_grad():
            look(progress)
        self._spent_s += perf_counter() - begin_s

    def _begin(self, progress):
        self._looks += 1
        gradients = self._find_gradients()
        if gradients is not None:
            self._sample = _Sample(gradients, progress.backwards_per_step)
            self._keep_norm()

    def _look_first(self, progress):
        sample = self._sample
        sample.samples = progress.samples_in_step()
        sample.forwards = progress.training_forwards
        if sample.samples > 0 and sample.forwards > 0:
            self._keep_norm()
        else:
            self._sample = None

    def _look_last(self, progress):
        if self._is_sum_of_micro_batches(progress):
            self._keep_norm()
        else:
            self._sample = None

    def _is_sum_of_micro_batches(self, progress):
        sample = self._sample
        backwards = sample.backwards
        # Several losses of one forward are no micro-batches, nor are batches of several sizes.
        if progress.training_forwards != backwards * sample.forwards:
            return False
        if progress.samples_in_step() != backwards * sample.samples:
            return False
        return sample.gradients.are_whole()

    def _keep_norm(self):
        norm = self._sample.gradients.norm()
        if norm is None:
            self._sample = None
        else:
            self._sample.norms.append(norm)
