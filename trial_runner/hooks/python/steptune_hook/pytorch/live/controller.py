# SPDX-License-Identifier: Apache-2.0
"""Switches configurations at the steps that the tuner names, and reports steps with their configuration."""

import collections
import math
from time import perf_counter

from steptune_hook import ranks
from steptune_hook.pytorch.live.channel import Channel, remove_left_behind
from steptune_hook.pytorch.live.passes import LivePasses

BASELINE = 0
_STEPS_TO_KNOW = 3  # until then the program has shown its loaders and modules
_WARM_UP_STEPS = 2
_WARM_UP_STEPS_IF_KERNELS_CHANGE = 5  # allocators and libraries need these steps to adapt again
_FIRST_MESSAGE_S = 1.0
_BETWEEN_STEPS_S = 0.005
_BETWEEN_LOSSES_S = 0.25
_MOST_OF_A_STEP_S = 5.0  # seconds of a long step or pause (such as an evaluation) that count as the tuner's silence


class Live:
    def __init__(self, hook, path, silence_s=None):
        self.passes = LivePasses(hook)
        self._hook = hook
        self._path = path
        self._channel = None
        self._is_begun = False
        self._configuration = BASELINE
        self._schedule = collections.deque()  # coming switches, in order
        self.is_over = False  # True if the current settings stay until the end
        self._warm_up_ends = 0
        self._step_sent_s = 0.0
        self._loss_sent_s = 0.0
        self._reported_warm_up = None
        self._most_silence_s = silence_s
        self._silence_s = 0.0
        self._listened_s = None

    def after_fork(self):
        """Closes the channel in a forked child. A child that trains opens its own."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._is_begun = False

    def send_event(self, document):
        self._reach_tuner()
        self._channel.send({"hook": document})

    def stop(self):
        """Called if the hook fails: restores the program's own settings, and closes the channel."""
        was_over, self.is_over = self.is_over, True
        if self._configuration != BASELINE:
            try:
                self._hook.knobs.switch({})
            except Exception:  # the hook is failing anyway; restore as much as possible
                pass
            if was_over:
                self._hook.events.warn("the hook failed: the program continues with its own settings")
        if self._channel is not None:
            self._channel.close()

    def step_ended(self, progress):
        """Called after each step. A switch for the next step takes effect here."""
        if progress.steps < _STEPS_TO_KNOW or self.is_over:
            return
        if not self._is_begun:
            self._begin(progress)
            return
        self._listen(progress)
        due = None
        while self._schedule and progress.steps >= self._schedule[0]["from_step"] - 1:
            due = self._schedule.popleft()
        # Always report the step before a switch, since it ends a block.
        self._send_step(progress, due is not None)
        if due is not None:
            self.is_over = bool(due.get("last"))
            self._switch(progress, due["configuration"], due["knobs"])
            if self.is_over:
                self._channel.close()
        # The last message of a tuner that has ended still counts.
        if not self._channel.is_open and not self.is_over and not self._awaits_last():
            self._go_on_alone(progress, "the tuner is gone")
            remove_left_behind(self._path)

    def _listen(self, progress):
        """Reads the tuner's messages. If the tuner is silent for too long, restores the program's own settings."""
        messages = self._channel.received()
        now_s = perf_counter()
        if messages or self._listened_s is None:
            self._silence_s = 0.0
        else:
            self._silence_s += min(now_s - self._listened_s, _MOST_OF_A_STEP_S)
        self._listened_s = now_s
        self._take(messages)
        if self._most_silence_s is None or self._silence_s < self._most_silence_s:
            return
        if self._channel.is_open and not self._awaits_last():
            self._schedule.clear()
            self._channel.close()
            self._go_on_alone(progress, "the tuner has said nothing for %.0f s" % self._silence_s)

    def _awaits_last(self):
        return any(switch.get("last") for switch in self._schedule)

    def _begin(self, progress):
        self._reach_tuner()
        self._is_begun = True
        self._hook.survey()
        # The first message may be a switch for the next step, so wait for it.
        self._take(self._channel.received(_FIRST_MESSAGE_S))
        if not self._channel.is_open and not self._awaits_last():
            self._go_on_alone(progress, "the tuner is gone")

    def _take(self, messages):
        self._schedule.extend(message["switch"] for message in messages if "switch" in message)

    def _reach_tuner(self):
        if self._channel is None:
            self._channel = Channel(self._path)
            rank, world_size = ranks.rank_and_world_size()
            hello = {"pid": self._hook.pid, "rank": rank, "world_size": world_size}
            self._channel.send({"v": 1, "hello": hello})

    def _go_on_alone(self, progress, why):
        self.is_over = True
        if self._configuration != BASELINE:
            self._switch(progress, BASELINE, {})
        self._hook.events.warn(
            "%s: the program continues with its own settings from step %d on"
            % (why, progress.steps + 1)
        )

    def _switch(self, progress, configuration, knobs):
        self._configuration = configuration
        changes_kernels = self._hook.knobs.switch(knobs)
        steps = _WARM_UP_STEPS_IF_KERNELS_CHANGE if changes_kernels else _WARM_UP_STEPS
        self._warm_up_ends = progress.steps + steps
        self._reported_warm_up = None
        self._hook.survey()

    def _send_step(self, progress, due):
        warm_up = progress.steps <= self._warm_up_ends
        if not warm_up and self._warm_up_ends and not self.passes.are_settled():
            # Some of the batches were loaded with the previous settings.
            warm_up = True
            self._warm_up_ends = progress.steps + _WARM_UP_STEPS
        now_s = perf_counter()
        changed = warm_up != self._reported_warm_up
        if not due and not changed and now_s - self._step_sent_s < _BETWEEN_STEPS_S:
            return
        self._step_sent_s = now_s
        self._reported_warm_up = warm_up
        document = {
            "step": progress.steps,
            "configuration": self._configuration,
            "warm_up": warm_up,
            "seconds": round(progress.clock.confirmed_training_s(), 7),
        }
        samples = progress.samples()
        if samples > 0:
            document["samples"] = samples
        looks = now_s - self._loss_sent_s >= _BETWEEN_LOSSES_S
        if looks or changed:
            # The shares of the parts are computed from two steps of a block. So also report the parts of its first
            # step.
            document["parts"] = progress.clock.parts()
        if looks:
            self._loss_sent_s = now_s
            loss = progress.loss()
            if loss is not None and math.isfinite(loss):
                document["loss"] = loss
            elif loss is not None:
                document["not_finite"] = ["loss"]
            document.update(progress.host_metrics())
        self._channel.send(document, may_be_lost=not (due or changed))
