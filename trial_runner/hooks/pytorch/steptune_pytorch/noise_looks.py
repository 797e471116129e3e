# SPDX-License-Identifier: Apache-2.0
"""The gradient noise scale: when gradients are looked at for it, now and then, and what came of it."""

import collections
from time import perf_counter

import torch

from steptune_pytorch.micro_batches import MicroBatches
from steptune_pytorch.noise_estimate import NoiseEstimate
from steptune_pytorch.rank_gradients import RankGradients

STEPS_BETWEEN = 4
MOST_SHARE = 0.001  # of the time of training
_STEPS_AFTER_REFUSAL = 64
_FIRST_LOOKS = 16  # may take more of it, so that a short trial tells something, too
_FIRST_SHARE = 10  # times as much
_MOST_UNREAD = 64
_SIZES = 16  # of the last batches of ranks that were looked at, so many as are remembered
_FEWEST_SIZES = 4
_USUAL_SHARE = 0.75


class NoiseLooks:
    """`find_gradients()` gives the gradients of the program, None where nothing sound can be said."""

    def __init__(self, find_gradients):
        self._find_gradients = find_gradients
        self._estimate = NoiseEstimate()
        self._look = None  # at the step under way
        self._hooked = None  # the look that may have hooks on parameters
        self._unread = collections.deque(maxlen=_MOST_UNREAD)
        self._sizes = collections.deque(maxlen=_SIZES)
        self._spent_s = 0.0
        self._looks = 0
        self.next_step = STEPS_BETWEEN  # the next look is not before so many steps

    @property
    def is_looking(self):
        """Whether the gradient of this step is looked at."""
        return self._look is not None

    @staticmethod
    def may_look(progress):
        """Whether there are gradients over few and over many samples in its steps."""
        return progress.backwards_per_step >= 2 or progress.world_size >= 2

    def backward_begins(self, progress):
        if progress.backwards == 0:
            if self._is_due(progress):
                self._spend(self._begin, progress)
        elif self._look is not None and not self._look.backward_begins():
            self._look = None

    def release(self):
        """To be called as soon as a backward is over, however it ended: parameters have no hooks then."""
        hooked, self._hooked = self._hooked, None
        if hooked is not None:
            begin_s = perf_counter()
            hooked.release()
            self._spent_s += hooked.spent_s + perf_counter() - begin_s

    def backward_ended(self, progress):
        """`progress.backwards` counts it."""
        if self._look is not None:
            self._spend(self._goes_on, progress)

    def step_ended(self, progress):
        look, self._look = self._look, None
        if look is None or len(look.norms) < 3 or progress.backwards_per_step != look.backwards:
            return
        if not look.of_ranks or self._is_usual(look.samples):
            self._unread.append((look.few(), look.many(), look.backwards, look.norms))

    def dropped(self):
        """The step came to nothing."""
        self._look = None

    def metrics(self):
        """Reads what was kept: waits for a GPU, as reading the loss of a line does."""
        unread = list(self._unread)
        self._unread.clear()
        if unread:
            norms = torch.stack([norm for _, _, _, norms in unread for norm in norms])
            for (few, many, backwards, _), of_step in zip(unread, norms.view(-1, 3).tolist()):
                before, of_few, of_many = of_step
                # Gradients that were there before the step belong to other samples.
                if before == 0.0:
                    # The sum over the backwards, in units in which the first one is its mean.
                    self._estimate.add(few, of_few, many, of_many / backwards)
        scale = self._estimate.samples()
        return {} if scale is None else {"gradient_noise_scale": scale}

    def _is_usual(self, samples):
        """Of batches of several sizes the other ranks have others at the same time, and only this one's are known. The
        last batch of a pass may be a smaller one."""
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
        # Steps in which it is only asked again are not plain ones, which cost less.
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
