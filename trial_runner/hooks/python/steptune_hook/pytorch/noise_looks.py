# SPDX-License-Identifier: Apache-2.0
"""Decides when gradients are measured for the noise scale, and collects the results."""

import collections
from time import perf_counter

import torch

from steptune_hook.pytorch.micro_batches import MicroBatches
from steptune_hook.pytorch.noise_estimate import NoiseEstimate
from steptune_hook.pytorch.rank_gradients import RankGradients

STEPS_BETWEEN = 4
MOST_SHARE = 0.001  # of the training time
_STEPS_AFTER_REFUSAL = 64
_FIRST_LOOKS = 16  # these may take a larger share, so that a short trial also measures something
_FIRST_SHARE = 10  # factor of `MOST_SHARE` for the first looks
_MOST_UNREAD = 64
_SIZES = 16  # number of remembered batch sizes of measured ranks
_FEWEST_SIZES = 4
_USUAL_SHARE = 0.75


class NoiseLooks:
    """`find_gradients()` returns the program's gradients; None if they allow no valid measurement."""

    def __init__(self, find_gradients):
        self._find_gradients = find_gradients
        self._estimate = NoiseEstimate()
        self._look = None  # measurement of the current step
        self._hooked = None  # measurement that may have hooks on parameters
        self._unread = collections.deque(maxlen=_MOST_UNREAD)
        self._sizes = collections.deque(maxlen=_SIZES)
        self._spent_s = 0.0
        self._looks = 0
        self.next_step = STEPS_BETWEEN  # the next measurement comes after this step or later

    @property
    def is_looking(self):
        return self._look is not None

    @staticmethod
    def may_look(progress):
        """True if the program's steps give gradients over few samples and over many samples."""
        return progress.backwards_per_step >= 2 or progress.world_size >= 2

    def backward_begins(self, progress):
        if progress.backwards == 0:
            if self._is_due(progress):
                self._spend(self._begin, progress)
        elif self._look is not None and not self._look.backward_begins():
            self._look = None

    def release(self):
        """Removes hooks from parameters. Must be called as soon as a backward is over, even after an error."""
        hooked, self._hooked = self._hooked, None
        if hooked is not None:
            begin_s = perf_counter()
            hooked.release()
            self._spent_s += hooked.spent_s + perf_counter() - begin_s

    def backward_ended(self, progress):
        """Called after a backward that `progress.backwards` already counts."""
        if self._look is not None:
            self._spend(self._goes_on, progress)

    def step_ended(self, progress):
        look, self._look = self._look, None
        if look is None or len(look.norms) < 3 or progress.backwards_per_step != look.backwards:
            return
        if not look.compares_ranks or self._is_usual(look.samples):
            self._unread.append((look.few_samples(), look.many_samples(), look.backwards, look.norms))

    def dropped(self):
        self._look = None

    def metrics(self):
        """Reads the results. This waits for a GPU, as reading the loss of a line does."""
        unread = list(self._unread)
        self._unread.clear()
        if unread:
            norms = torch.stack([norm for _, _, _, norms in unread for norm in norms])
            for (few, many, backwards, _), of_step in zip(unread, norms.view(-1, 3).tolist()):
                before, of_few, of_many = of_step
                # Gradients that existed before the step belong to other samples.
                if before == 0.0:
                    # The norm is of the sum over the backwards; the first norm is of a single one.
                    self._estimate.add(few, of_few, many, of_many / backwards)
        scale = self._estimate.samples()
        return {} if scale is None else {"gradient_noise_scale": scale}

    def _is_usual(self, samples):
        """True if the batch has the usual size. The last batch of a pass may be smaller. If sizes differ, ranks may
        have different sizes at the same time, and only this rank's size is known."""
        sizes = self._sizes
        sizes.append(samples)
        return len(sizes) >= _FEWEST_SIZES and sizes.count(samples) >= _USUAL_SHARE * len(sizes)

    def _is_due(self, progress):
        steps = progress.steps
        if steps < self.next_step or not self.may_look(progress):
            return False
        self.next_step = steps + STEPS_BETWEEN
        share = MOST_SHARE * (_FIRST_SHARE if self._looks < _FIRST_LOOKS else 1)
        allowed_s = share * progress.clock.confirmed_training_s()
        if self._spent_s <= allowed_s:
            return True
        # Measure again only after some time, since steps with a measurement are not plain and cost more.
        lacking = min(1.0, self._spent_s / allowed_s - 1.0) if allowed_s > 0.0 else 1.0
        self.next_step = steps + max(STEPS_BETWEEN, int(lacking * steps))
        return False

    def _spend(self, look, progress):
        begin_s = perf_counter()
        with torch.no_grad():
            look(progress)
        self._spent_s += perf_counter() - begin_s

    def _begin(self, progress):
        self._looks += 1
        gradients = self._find_gradients()
        if gradients is not None:
            if progress.backwards_per_step >= 2:
                look = MicroBatches(gradients, progress.backwards_per_step)
            else:
                look = self._hooked = RankGradients(gradients)
            if look.begins():
                self._look = look
                return
        self.next_step = progress.steps + _STEPS_AFTER_REFUSAL

    def _goes_on(self, progress):
        if not self._look.backward_ended(progress):
            self._look = None
