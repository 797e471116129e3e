# SPDX-License-Identifier: Apache-2.0
"""Counts steps, samples, loss and phases, from the calls that are wrapped in the training thread."""

import torch

from steptune_hook import ranks
from steptune_hook.host_watch import HostWatch
from steptune_hook.part_clock import DATA, OTHER, HostParts, PartClock
from steptune_hook.pytorch import gpu_events
from steptune_hook.pytorch.batches import Batches
from steptune_hook.pytorch.evaluations import Evaluations
from steptune_hook.pytorch.gpu_parts import GpuParts
from steptune_hook.pytorch.loader_queue import LoaderQueue
from steptune_hook.pytorch.passes import Passes
from steptune_hook.pytorch.sample_count import SampleCount


class Progress:
    """`samples_of_all(loader, samples)` returns the samples of a batch on all ranks, given those on this rank.

    `is_plain` is True if the current step has nothing that needs more work, such as an evaluation or a measurement of
    gradients. The wrapped calls then skip this work. Programs evict the hook's code from the processor's caches in each
    step, so each function call takes microseconds."""

    def __init__(self, settings, report, phases, on_step, noise_looks, received, samples_of_all):
        self.clock = PartClock()
        self.report = report
        self.phases = phases
        self.steps = 0
        self.skipped_steps = 0
        self.backwards_per_step = 0
        self.optimizers_made = False
        self.is_plain = False
        self.look_step = 0  # in plain steps: the gradient may be measured in a step after this one
        self.full_step = 0  # on_step is called after this step at the latest
        self._may_be_plain = False
        self.modes_count = True
        self._on_step = on_step
        self.sample_count = SampleCount(settings.samples_per_step, samples_of_all)
        self.batches = Batches(self, samples_of_all)
        self.evaluations = Evaluations(self)
        self._passes = Passes(self)
        self.world_size = 1
        self.is_fed = False  # True if the current step trains on a loader's batch
        self.unfed_step = 0  # the last step without such a batch
        self.training_forwards = 0
        self.forwards_before_backward = 0  # training forwards of the step before its last backward
        self.loss_roots = []
        self._loss_of_step = []
        self.backwards = 0
        self._evaluated_with_gradients = False
        self._loader_queue = LoaderQueue()
        self._prints = settings.prints_steps
        self._noise_looks = noise_looks if self._prints else None
        self.received = received
        self._host_watch = HostWatch() if settings.mode in ("survey", "live") else None
        self.parts = HostParts(self.clock)
        self._has_gpu_parts = False

    def has_begun(self):
        return self.steps > 0 or self.backwards > 0 or self.skipped_steps > 0

    def goes_to_another_thread(self):
        """Drops batches of the previous thread, which did not train. It may load batches for the new thread, unseen
        from now on."""
        self.batches.forget_all()
        self._passes.forget_restart()
        self.clock.switch(OTHER)

    # -- data ------------------------------------------------------------------------------------

    def restarts(self, loader):
        """Called when a loader begins another pass. The clock's last switch was the one to DATA."""
        self.is_plain = False
        self.batches.prefetched.restarts(loader, self.batches.fetched)
        self._passes.begin(loader)

    def asks(self, loader, iterator):
        """Called when the program asks for a batch of a loader with workers."""
        if loader is not None and loader.training:
            self._loader_queue.requested(iterator)

    def fetched(self, loader, batch):
        """Called when a batch has come. The clock's last switch was the one away from DATA."""
        self._passes.first_batch_came(loader)
        if loader is None:
            return
        self.batches.forget_evaluated()
        if loader.training:
            self._end_checkpoint()
        else:
            self.is_plain = False
        if self.batches.add(loader, batch):
            self.evaluations.came_to_an_end()

    def exhausted(self, loader):
        if loader is not None:
            loader.is_exhausted = True
            self._passes.end(loader)
        self.batches.forget_evaluated()
        if self.phases.open == "evaluation" and loader is not None and not loader.training:
            self.stay_in_phase()

    def epoch_ended(self, seconds):
        """Reports the last time of DATA, of `seconds`, as the end of an epoch."""
        now_s = self.clock.now_s
        self.phases.ended("epoch_end", now_s - seconds, now_s)
        self.clock.totals_s[DATA] -= seconds
        self.clock.confirm()
        self.parts.dropped()

    # -- forward ---------------------------------------------------------------------------------

    def is_training(self, module):
        return torch.is_grad_enabled() and (module.training or not self.modes_count)

    def trains(self, module, inputs, named_inputs):
        """Called when an outermost module begins a forward that belongs to a step."""
        self.end_phase()
        self.batches.give_to_forward(inputs, named_inputs)
        self.training_forwards += 1
        if not self.is_fed:
            self.sample_count.count_forward(module, inputs, named_inputs, self.steps)
        self.parts.forward_begins()

    def trained(self):
        self.parts.forward_ended()

    def evaluates(self):
        self.is_plain = False
        self.batches.evaluated()
        self._evaluated_with_gradients = torch.is_grad_enabled()
        if self.evaluations.are_part_of_step():
            self._end_checkpoint()
            self.parts.forward_begins()
        else:
            self.evaluations.begin()

    def _end_checkpoint(self):
        if self.phases.open == "checkpoint":
            self.end_phase()

    def evaluated(self):
        if self.phases.open:
            self.stay_in_phase()
        self.trained()

    def stay_in_phase(self):
        self.clock.discard()
        self.phases.extend(self.clock.now_s)

    def end_phase(self):
        if self.phases.open:
            self.phases.end()

    # -- backward and step -----------------------------------------------------------------------

    def backward_begins(self):
        if self._evaluated_with_gradients and not self.training_forwards:
            # This program trains in evaluation mode, so from now on only gradients decide.
            self.modes_count = False
        self.end_phase()
        self._passes.backward_or_step_came()
        self.batches.give_to_step()
        self.received.backward_begins(self.steps)
        if self._noise_looks is not None:
            self._noise_looks.backward_begins(self)
            self.look_step = self._next_look_step()
        if self.received.is_looking or (self._noise_looks is not None and self._noise_looks.is_looking):
            self.is_plain = False

    def backward_ended(self):
        self.backwards += 1
        self.forwards_before_backward = self.training_forwards
        if self._noise_looks is not None:
            self._noise_looks.release()
        if self.received.before is not None:  # also if a step within the backward has ended the measurement
            self.received.backward_ended()
        if not self.training_forwards:
            # The forward was not seen. An evaluation before the step must not include the forward's time.
            self.clock.confirm()
        self.parts.backward_ended()
        if self._noise_looks is not None:
            self._noise_looks.backward_ended(self)
        if not self.optimizers_made:
            self.step_ended()

    def step_ended(self):
        self.end_phase()
        self._passes.backward_or_step_came()
        self.batches.give_to_step()
        self.batches.give_remaining_to_step()
        self.steps += 1
        if not self.is_fed:
            self.unfed_step = self.steps
        if self.steps == 1:
            self.clock.clear()
            if self._host_watch is not None:
                self._host_watch.first_step_ended()
        self.clock.confirm()
        count = self.sample_count
        if count.by == "loader" and not self.is_fed and not self.batches.is_still_read():
            # The program reuses batches (itertools.cycle, or a single batch), so count inputs from now on.
            count.by = "forward"
        if count.by in ("none", "forward"):
            count.count_inputs(self.steps, self.training_forwards)
        self.evaluations.step_ended()
        self.backwards_per_step = self.backwards
        self._loss_of_step, self.loss_roots = self.loss_roots, []
        if self._noise_looks is not None:
            self._noise_looks.step_ended(self)
        self._forget_step()
        if self.steps == 1 and self._prints:
            events = gpu_events.of(self._loss_of_step)
            if events is not None:
                self.parts = GpuParts(events, self.clock)
                self._has_gpu_parts = True
        self.parts.step_ended(self.steps)
        self._on_step(self)
        self._look_around()
        self.report.step(self.clock.now_s, self._document)

    def plain_step_ended(self):
        """Called after a plain step that is not reported."""
        clock, count, batches = self.clock, self.sample_count, self.batches
        now_s = clock.now_s
        if (
            now_s >= self.report.due_s
            or self.steps + 1 >= self.full_step
            or self.backwards != self.backwards_per_step
            or batches.prefetched.of_step
            or (batches.fetched and not self.is_fed and not self.training_forwards)
            or ((count.by == "loader") != self.is_fed and count.by != "given")
            or self._has_gpu_parts
        ):
            self.step_ended()
            return
        self.steps += 1
        clock.confirmed_totals_s[:] = clock.totals_s
        clock.confirmed_s = now_s
        if count.by in ("none", "forward"):
            count.count_inputs(self.steps, self.training_forwards)
        self.is_fed = False
        self._loss_of_step, self.loss_roots = self.loss_roots, []
        self.backwards = self.training_forwards = self.forwards_before_backward = 0
        count.before_step = count.total
        count.of_all_before_step = count.total_of_all
        count.of_forwards = count.followed = count.reached = 0
        count.last_counted = count.counted_inputs = None
        self.report.waiting = (now_s, self._document)

    def knows_program(self):
        """Allows plain steps, since the wrapped calls are final."""
        self._may_be_plain = True

    def _look_around(self):
        """Called after a step. Decides whether the next one starts as a plain step."""
        self.world_size = ranks.together()
        self.is_plain = (
            self._may_be_plain
            and not self._passes.is_restarting()
            and not self.batches.waits_for_forward()
            and self.evaluations.are_settled()
            and not self.parts.is_looking
        )
        self.look_step = self._next_look_step()
        self.received.step_ended(self.steps)

    def _next_look_step(self):
        if not self.optimizers_made:
            return 0  # each backward ends a step
        looks = self._noise_looks is not None and self._noise_looks.may_look(self)
        received_step = self.received.next_step(self.steps)
        return min(self._noise_looks.next_step, received_step) if looks else received_step

    def step_skipped(self):
        """Called if a scaler found gradients that are not finite: no step, but its samples were seen."""
        self._end_checkpoint()
        self.clock.confirm()
        self.skipped_steps += 1
        count = self.sample_count
        if count.by in ("none", "forward") and count.of_forwards:
            count.count_inputs(self.steps, self.training_forwards)
        self.loss_roots = []
        if self._noise_looks is not None:
            self._noise_looks.dropped()
        self.parts.dropped()
        self._forget_step()

    def other_optimizer_stepped(self):
        """Called when another optimizer has made its part of the same step."""
        self._end_checkpoint()
        self.clock.confirm()
        self.parts.optimizer_ended()
        self.training_forwards = self.forwards_before_backward = 0

    def optimizer_made(self):
        """Called when an optimizer is made. Forwards before the first one are not training."""
        if not self.optimizers_made:
            self.sample_count.forget_step()
            self._forget_step()
        self.optimizers_made = True

    def _forget_step(self):
        self.sample_count.end_step()
        self.is_fed = False
        self.backwards = 0
        self.training_forwards = self.forwards_before_backward = 0
        self._evaluated_with_gradients = False

    # -- checkpoints -----------------------------------------------------------------------------

    def saves(self):
        """Called when the program begins to write a file. The files between two steps are one checkpoint."""
        self.is_plain = False  # the next forward ends the phase
        if self.phases.open:
            self.stay_in_phase()  # nothing was trained since the evaluation, or since the last file
        if self.phases.open != "checkpoint":
            self.end_phase()
            if self.steps > 0:
                self.phases.begin("checkpoint", self.clock.now_s)
        self.clock.confirm()
        self.parts.dropped()

    def saved(self):
        self.clock.confirm()
        if self.phases.open:
            self.phases.extend(self.clock.now_s)

    def ends(self):
        self.end_phase()
        self.report.flush()

    def forgotten(self):
        """Called when another Progress replaces this one in a forked child."""
        if self._host_watch is not None:
            self._host_watch.end()

    # -- reports ---------------------------------------------------------------------------------

    def samples(self):
        """Returns the samples up to the last step. The line of a step may be printed in the middle of the next step."""
        return self.sample_count.up_to(self.steps)

    def samples_in_step(self):
        return self.sample_count.in_step(self.backwards, self.backwards_per_step)

    def loss(self):
        if not self._loss_of_step:
            return None
        return float(sum(root.item() for root in self._loss_of_step))

    def host_metrics(self):
        return {} if self._host_watch is None else self._host_watch.metrics()

    def _document(self):
        document = {"step": self.steps}
        samples = self.samples()
        if samples > 0:
            document["samples"] = samples
        loss = self.loss()
        if loss is not None:
            document["loss"] = loss
        if self.skipped_steps:
            document["skipped_steps"] = self.skipped_steps
        gpu_peak_bytes = gpu_events.peak_bytes(self._loss_of_step)
        if gpu_peak_bytes is not None:
            document["gpu_peak_bytes"] = gpu_peak_bytes
        document.update(self._loader_queue.metrics())
        document.update(self.host_metrics())
        if self._noise_looks is not None:
            document.update(self._noise_looks.metrics())
        parts = self.parts.parts()
        document.update(self.parts.metrics())
        if parts is not None:
            document["parts"] = parts
        return document
