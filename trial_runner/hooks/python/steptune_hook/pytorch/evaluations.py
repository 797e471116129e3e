# SPDX-License-Identifier: Apache-2.0
"""Distinguishes evaluations between steps from forwards without training that are part of a step."""

_STEPS_WITH_TEACHER = 3


class Evaluations:
    def __init__(self, progress):
        self._progress = progress
        self._is_in_step = False
        self._steps_in_a_row = 0  # consecutive steps with a forward without training

    def are_part_of_step(self):
        """True if a forward without training is part of a step. Examples are a teacher's forward in each step, and a
        forward between a step's training forward and its backward."""
        progress = self._progress
        is_before_backward = progress.training_forwards > progress.forwards_before_backward
        return progress.steps == 0 or is_before_backward or self._steps_in_a_row >= _STEPS_WITH_TEACHER

    def are_settled(self):
        """True if it is known that all steps have such a forward, or that none has."""
        return self._steps_in_a_row in (0, _STEPS_WITH_TEACHER)

    def begin(self):
        progress = self._progress
        self._is_in_step = True
        progress.parts.dropped()
        if progress.phases.open != "evaluation":
            progress.end_phase()
            if progress.backwards:  # the evaluation is between two micro-batches of a step
                progress.clock.confirm()
            progress.phases.begin("evaluation", progress.clock.confirmed_s)

    def came_to_an_end(self):
        """Assigns the time since the last step to an evaluation, unless it was part of the step."""
        if not self.are_part_of_step():
            self.begin()
            self._progress.stay_in_phase()

    def report_past(self, begin_s, end_s, totals_s):
        """Reports an evaluation from the last step until `end_s`, when the clock's totals were `totals_s`."""
        progress = self._progress
        if self.are_part_of_step() or progress.clock.confirmed_s != begin_s:
            return
        self._is_in_step = True
        progress.parts.dropped()
        progress.phases.ended("evaluation", begin_s, end_s)
        progress.clock.leave_out(totals_s)
        progress.clock.confirmed_s = end_s

    def step_ended(self):
        if self._steps_in_a_row < _STEPS_WITH_TEACHER:
            self._steps_in_a_row = self._steps_in_a_row + 1 if self._is_in_step else 0
        self._is_in_step = False
