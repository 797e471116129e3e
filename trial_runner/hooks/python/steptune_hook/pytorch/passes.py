# SPDX-License-Identifier: Apache-2.0
"""Passes over loaders. Reports slow ends of epochs. Finds passes that were evaluations although gradients were enabled.
"""

from steptune_hook.part_clock import DATA

_FEWEST_EPOCH_END_S = 0.005


class Passes:
    def __init__(self, progress):
        self._progress = progress
        self._restart = None  # a loader that begins another pass, and the time of data up to that moment
        self._begun = None  # the last pass: its loader, and the counts at its start
        # Passes without a backward: loader, samples on this rank and on all ranks. They count again if a backward
        # follows.
        self._taken_back = []

    def is_restarting(self):
        return self._restart is not None

    def forget_restart(self):
        self._restart = None

    def begin(self, loader):
        progress = self._progress
        count = progress.sample_count
        counts = count.total, count.total_of_all, progress.training_forwards, progress.is_fed
        self._begun = (loader, self._backwards_and_steps(), counts)
        if loader.training and loader.passes > 1 and progress.steps > 0:
            progress.end_phase()
            self._restart = (loader, progress.clock.totals_s[DATA])

    def first_batch_came(self, loader):
        """Reports the end of an epoch if the first batch of a pass took much longer than a usual batch."""
        if self._restart is None or self._restart[0] is not loader:
            return
        _, data_s = self._restart
        self._restart = None
        progress = self._progress
        # Leave out the program's own time between its request for the pass and its request for the first batch.
        seconds = progress.clock.totals_s[DATA] - data_s
        usual_s = data_s / max(1, progress.batches.count)
        if seconds > _FEWEST_EPOCH_END_S and seconds > 3 * usual_s:
            if progress.batches.only_read is not None:
                progress.batches.forget_abandoned(next_read=loader)
            progress.epoch_ended(seconds)

    def end(self, loader):
        """Ends a pass. A pass without a backward after its forwards is an evaluation, even in training mode and with
        gradients."""
        begun, self._begun = self._begun, None
        if begun is None or begun[0] is not loader or begun[1] != self._backwards_and_steps() or loader.is_summed:
            return
        progress = self._progress
        if not loader.is_trained_on_in_pass:
            clock = progress.clock
            progress.batches.only_read = (loader, clock.confirmed_s, clock.now_s, list(clock.totals_s))
            return
        total, total_of_all, progress.training_forwards, progress.is_fed = begun[2]
        self._taken_back.append((loader, *progress.sample_count.take_back(total, total_of_all)))
        loader.evaluations += 1
        if loader.passes == loader.evaluations:
            loader.training = None
        progress.evaluations.came_to_an_end()

    def backward_or_step_came(self):
        """Counts passes again that counted as evaluations: the current backward or step uses all their losses. Does
        nothing if the backward or step has its own batch."""
        if not self._taken_back:
            return
        taken_back, self._taken_back = self._taken_back, []
        progress = self._progress
        count = progress.sample_count
        if progress.is_fed or progress.batches.fetched or (progress.steps and count.by == "forward"):
            return
        for loader, samples, samples_of_all in taken_back:
            count.total += samples
            count.total_of_all += samples_of_all
            progress.training_forwards += 1
            progress.is_fed = loader.is_summed = True
            loader.is_trained_on()

    def _backwards_and_steps(self):
        return self._progress.backwards, self._progress.steps, self._progress.skipped_steps
