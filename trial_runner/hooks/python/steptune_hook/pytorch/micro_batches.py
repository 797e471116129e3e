# SPDX-License-Identifier: Apache-2.0
"""Measures the norm of the gradient after the first and after the last micro-batch of a step."""

from steptune_hook.pytorch.gradients import Witness


class MicroBatches:
    """Measures one step. Its methods return False if the measurement has failed."""

    compares_ranks = False

    def __init__(self, gradients, backwards):
        self.backwards = backwards
        self.norms = []  # before the first, after the first and after the last backward
        self.samples = 0  # of the first micro-batch
        self._gradients = gradients
        self._forwards = 0
        self._smallest = None  # the parameter with the smallest gradient
        self._witness = None  # of that gradient

    def few_samples(self):
        return self.samples * self._gradients.ranks_of_first

    def many_samples(self):
        return self.samples * self.backwards * self._gradients.ranks

    def begins(self):
        return self._keep_norm()

    def backward_begins(self):
        """False if the gradient was touched since the last backward, so that it is no sum."""
        return not self._witness.was_touched()

    def backward_ended(self, progress):
        if not self._remember():
            return False
        if progress.backwards == 1:
            return self._look_first(progress)
        if progress.backwards == self.backwards:
            return self._is_sum_of_micro_batches(progress) and self._keep_norm()
        return True

    def _remember(self):
        """Records the smallest gradient; False if there is none."""
        if self._smallest is None:
            self._smallest = self._gradients.smallest()
        if self._smallest is None or self._smallest.grad is None:
            return False
        self._witness = Witness(self._smallest)
        return True

    def _look_first(self, progress):
        self.samples = progress.samples_in_step()
        self._forwards = progress.training_forwards
        return self.samples > 0 and self._forwards > 0 and self._keep_norm()

    def _is_sum_of_micro_batches(self, progress):
        # Several losses of one forward are not micro-batches. Batches of different sizes do not count, either.
        if progress.training_forwards != self.backwards * self._forwards:
            return False
        if progress.samples_in_step() != self.backwards * self.samples:
            return False
        return self._gradients.are_whole()

    def _keep_norm(self):
        norm = self._gradients.norm()
        if norm is not None:
            self.norms.append(norm)
        return norm is not None
