# SPDX-License-Identifier: Apache-2.0
"""Counts steps, samples, loss and phases, from the calls that are wrapped in the training thread."""

import weakref

import torch

from steptune_hook import ranks
from steptune_hook.host_watch import HostWatch
from steptune_hook.part_clock import DATA, OTHER, HostParts, PartClock
from steptune_hook.pytorch import gpu_events, tensors
from steptune_hook.pytorch.counted_inputs import CountedInputs
from steptune_hook.pytorch.gpu_parts import GpuParts
from steptune_hook.pytorch.loader_queue import LoaderQueue
from steptune_hook.pytorch.no_grad_batch import NoGradBatch
from steptune_hook.pytorch.prefetched_batch import PrefetchedBatch

_FEWEST_EPOCH_END_S = 0.005
_STEPS_WITH_TEACHER = 3
_STEPS_TO_FOLLOW = 10  # after a change of the step's forwards


class Progress:
    """`samples_of_all(loader, samples)` returns the samples on all ranks in a batch with `samples` here.

    `is_plain` is True if the current step is like the steps before it: no evaluation, say, and no look at gradients. Then
    the wrapped calls skip the work that only other steps need. Programs evict the hook's code from the processor's caches
    in each step, so each function call takes microseconds."""

    def __init__(self, settings, report, phases, on_step, noise_looks, received, samples_of_all):
        self.clock = PartClock()
        self.report = report
        self.phases = phases
        self.steps = 0
        self.skipped_steps = 0
        self.backwards_per_step = 0
        self.samples_by = "none" if settings.samples_per_step is None else "given"
        self.optimizers_made = False
        self.is_plain = False
        self.look_step = 0  # in plain steps: the gradient may be measured after this step
        self.full_step = 0  # on_step is called after this step at the latest
        self._may_be_plain = False
        self.modes_count = True
        self._given_samples = settings.samples_per_step
        self._on_step = on_step
        self._find_samples_of_all = samples_of_all
        self._samples = 0
        self._samples_of_all = 0
        self._samples_before_step = 0
        self._samples_of_all_before_step = 0
        self.fetched_batches = []
        self.prefetched = PrefetchedBatch()
        self._no_grad_batch = None  # the last batch, if it was fetched without gradients
        self.world_size = 1
        self.is_fed = False  # the current step trains on a loader's batch
        self._last_batch = (0, 0)  # samples here, and on all ranks
        self.loaders_of_forward = []  # loaders of the batches in the last training forward
        self.unfed_step = 0  # the last step without such a batch
        self.batches = 0
        self._forward_samples = 0
        # Last module whose inputs were counted in this step, their first tensor, and their `CountedInputs`.
        self._counted = None
        self.counted_inputs = None  # of the current forward, if its backward is to be watched
        self._followed_samples = 0  # samples of the step's forwards whose backward is watched
        self._backward_samples = 0  # the part of them through which a backward went
        self._follow_until_step = _STEPS_TO_FOLLOW
        self._most_forwards = 0  # largest number in a step
        self.training_forwards = 0
        self.forwards_before_backward = 0  # training forwards of the step before its last backward
        self.loss_roots = []
        self._loss_of_step = []
        self.backwards = 0
        self._evaluated_since_fetch = False
        self._evaluated_fetched = False
        self._evaluated_with_gradients = False
        self._evaluated_in_step = False
        self._steps_with_evaluation = 0
        self._restart = None
        self._pass_begun = None  # the last pass: its loader, and the counts at its start
        # Passes without a backward, to be restored if one follows: loader, samples here and on all ranks.
        self._taken_back = []
        # The last pass, if it had no forward: its loader, the ends of the step before and of the pass, totals at its
        # end.
        self._only_read = None
        self._loader_queue = LoaderQueue()
        self._prints = settings.prints_steps
        self._noise_looks = noise_looks if self._prints else None
        self.received = received
        self._host_watch = HostWatch() if settings.mode in ("survey", "live") else None
        self._parts = HostParts(self.clock)
        self._has_gpu_parts = False

    def has_begun(self):
        """True if a backward was seen."""
        return self.steps > 0 or self.backwards > 0 or self.skipped_steps > 0

    def goes_to_another_thread(self):
        """Drops batches of the previous thread, which did not train. It may load batches for the new thread, unseen
        from now on."""
        del self.fetched_batches[:]
        self.prefetched = PrefetchedBatch()
        self._no_grad_batch = None
        self._restart = None
        self.clock.switch(OTHER)

    # -- data ------------------------------------------------------------------------------------

    def restarts(self, loader):
        """Called when a loader begins another pass, at the last switch to DATA."""
        self.is_plain = False
        self.prefetched.restarts(loader, self.fetched_batches)
        self._pass_begun = (loader, self._backwards_and_steps(), self._counted_now())
        if loader.training and loader.passes > 1 and self.steps > 0:
            self._end_phase()
            self._restart = (loader, self.clock.totals_s[DATA])

    def asks(self, loader, iterator):
        """Called when the program asks for a batch of a loader with workers."""
        if loader is not None and loader.training:
            self._loader_queue.requested(iterator)

    def fetched(self, loader, batch):
        """Called when a batch has come, at the last switch away from DATA."""
        if self._restart is not None and self._restart[0] is loader:
            self._end_restart()
        if loader is None:
            return
        self._forget_evaluated()
        self._no_grad_batch = None
        if loader.training:
            self._end_checkpoint()
        else:
            self.is_plain = False
        samples = loader.count_samples(batch)
        samples_of_all = self._find_samples_of_all(loader, samples)
        if loader.training is None and not torch.is_grad_enabled():
            # The batch belongs to an evaluation, even if the module of it is not watched, unless a training forward
            # receives it. The same loader may train later.
            loader.is_evaluated_on = True
            if not self._is_part_of_step():
                self._begin_evaluation()
                self._stay_in_phase()
            self._no_grad_batch = NoGradBatch(loader, batch, samples, samples_of_all)
            return
        self._take(loader, samples, samples_of_all)

    def _take(self, loader, samples, samples_of_all):
        self.batches += 1
        self.fetched_batches.append((loader, samples, samples_of_all))

    def exhausted(self, loader):
        if loader is not None:
            loader.is_exhausted = True
            self._end_pass(loader)
        self._forget_evaluated()
        self._no_grad_batch = None
        if self.phases.open == "evaluation" and loader is not None and not loader.training:
            self._stay_in_phase()

    def _backwards_and_steps(self):
        return self.backwards, self.steps, self.skipped_steps

    def _counted_now(self):
        return self._samples, self._samples_of_all, self.training_forwards, self.is_fed

    def _end_pass(self, loader):
        """Ends a pass. A pass without a backward after its forwards is an evaluation, in training mode and with
        gradients."""
        begun, self._pass_begun = self._pass_begun, None
        if begun is None or begun[0] is not loader or begun[1] != self._backwards_and_steps() or loader.is_summed:
            return
        if not loader.is_trained_on_in_pass:
            self._only_read = (loader, self.clock.confirmed_s, self.clock.now_s, list(self.clock.totals_s))
            return
        samples, samples_of_all = self._samples, self._samples_of_all
        self._samples, self._samples_of_all, self.training_forwards, self.is_fed = begun[2]
        self._taken_back.append((loader, samples - self._samples, samples_of_all - self._samples_of_all))
        loader.evaluations += 1
        if loader.passes == loader.evaluations:
            loader.training = None
        if not self._is_part_of_step():
            self._begin_evaluation()
            self._stay_in_phase()

    def _give_back(self):
        """Restores the samples of those passes: the current backward or step uses all their losses, unless it has its
        own batch."""
        taken_back, self._taken_back = self._taken_back, []
        if self.is_fed or self.fetched_batches or (self.steps and self.samples_by == "forward"):
            return
        for loader, samples, samples_of_all in taken_back:
            self._samples += samples
            self._samples_of_all += samples_of_all
            self.training_forwards += 1
            self.is_fed = loader.is_summed = True
            loader.is_trained_on()

    def _forget_evaluated(self):
        """Drops batches that only an evaluation has seen."""
        if not self._evaluated_since_fetch:
            return
        self._evaluated_since_fetch = False
        evaluated_fetched, self._evaluated_fetched = self._evaluated_fetched, False
        if not evaluated_fetched or not self.fetched_batches:
            return
        for loader, _, _ in self.fetched_batches:
            if loader.training is None:
                loader.training = False
        # Batches that were fetched for training wait for the evaluation to end.
        evaluated = self.fetched_batches[-1][0]
        self.fetched_batches[:] = [b for b in self.fetched_batches if b[0].training and b[0] is not evaluated]

    def _end_restart(self):
        loader, data_s = self._restart
        self._restart = None
        # Time between the program's request for the pass and for its first batch is the program's own.
        seconds = self.clock.totals_s[DATA] - data_s
        usual_s = data_s / max(1, self.batches)
        # Report an epoch's end only if it takes much longer than a usual batch.
        if seconds > _FEWEST_EPOCH_END_S and seconds > 3 * usual_s:
            if self._only_read is not None:
                self._forget_abandoned(next_read=loader)
            now_s = self.clock.now_s
            self.phases.ended("epoch_end", now_s - seconds, now_s)
            self.clock.totals_s[DATA] -= seconds
            self.clock.confirm()
            self._parts.dropped()

    # -- forward ---------------------------------------------------------------------------------

    def is_training(self, module):
        return torch.is_grad_enabled() and (module.training or not self.modes_count)

    def trains(self, module, inputs, named_inputs):
        """Called when a forward of an outermost module begins that belongs to a step."""
        self._end_phase()
        self._take_no_grad_batch((inputs, named_inputs))
        if self.fetched_batches and self.fetched_batches[0][0].may_give_samples:
            self._count_items(tensors.samples_in_inputs(inputs, named_inputs))
        if self.prefetched.batch is not None or self.prefetched.of_step or len(self.fetched_batches) > 1:
            self._forget_abandoned(tensors.samples_in_inputs(inputs, named_inputs))
            self.prefetched.divide(self.fetched_batches, (inputs, named_inputs), self.is_fed, self.backwards)
        self._reconsider_loader()
        self.take_fetched()
        self.training_forwards += 1
        if not self.is_fed:
            self.count_samples_in(module, inputs, named_inputs)
        self._parts.forward_begins()

    def count_samples_in(self, module, inputs, named_inputs):
        """Counts the samples of a forward without a batch. Inputs that two modules share (an actor and a critic) count
        once."""
        if self.samples_by == "given" or torch.jit.is_tracing():  # traced sizes are tensors
            return
        tensor = tensors.first_tensor((inputs, named_inputs))
        if tensor is not None and self._counted is not None:
            former, former_tensor, counted = self._counted
            if former is not module and former_tensor() is tensor:
                self.counted_inputs = counted
                return
        if self._counted is not None and tensors.any_computed((inputs, named_inputs)):
            # The input is the output of an earlier module: embedding, encoder and head are called in turn.
            self.counted_inputs = self._counted[2]
            return
        samples = tensors.samples_in_inputs(inputs, named_inputs)
        self._forward_samples += samples
        if self.steps < self._follow_until_step:
            self.counted_inputs = CountedInputs(self, samples)
        if tensor is not None:
            self._counted = (module, weakref.ref(tensor), self.counted_inputs)

    def follows(self, samples):
        """Records that a backward through a forward with this many samples will be seen."""
        self._followed_samples += samples

    def backward_reaches(self, samples):
        self._backward_samples += samples

    def _take_no_grad_batch(self, inputs):
        batch, self._no_grad_batch = self._no_grad_batch, None
        if batch is not None and batch.is_given_to(inputs, self._evaluated_since_fetch):
            self._take(batch.loader, batch.samples, batch.samples_of_all)

    def trained(self):
        """Called when the training forward is over."""
        self._parts.forward_ended()

    def evaluates(self):
        self.is_plain = False
        self._evaluated_since_fetch = True
        self._evaluated_fetched |= self._no_grad_batch is None  # otherwise the evaluation may be that batch's
        self._evaluated_with_gradients = torch.is_grad_enabled()
        if self._is_part_of_step():
            self._end_checkpoint()
            self._parts.forward_begins()
        else:
            self._begin_evaluation()

    def _is_part_of_step(self):
        """True if a forward without training is part of a step. That is so for a teacher's forward in each step, and
        between a step's forward and its backward."""
        is_before_backward = self.training_forwards > self.forwards_before_backward
        return self.steps == 0 or is_before_backward or self._steps_with_evaluation >= _STEPS_WITH_TEACHER

    def _begin_evaluation(self):
        self._evaluated_in_step = True
        self._parts.dropped()
        if self.phases.open != "evaluation":
            self._end_phase()
            if self.backwards:  # the evaluation is between two micro-batches of a step
                self.clock.confirm()
            self.phases.begin("evaluation", self.clock.confirmed_s)

    def _end_checkpoint(self):
        if self.phases.open == "checkpoint":
            self._end_phase()

    def evaluated(self):
        if self.phases.open:
            self._stay_in_phase()
        self.trained()

    def _stay_in_phase(self):
        self.clock.discard()
        self.phases.extend(self.clock.now_s)

    def _end_phase(self):
        if self.phases.open:
            self.phases.end()

    def take_fetched(self):
        """Marks the fetched batches as trained on."""
        if self.fetched_batches:
            self.loaders_of_forward = []
        for loader, samples, samples_of_all in self.fetched_batches:
            self.loaders_of_forward.append(loader)
            if loader.training is not False:
                loader.is_trained_on()
                loader.is_trained_on_in_pass = True
                self.is_fed = True
                self._samples += samples
                self._samples_of_all += samples_of_all
                self._last_batch = (samples, samples_of_all)
                if self.samples_by != "given":
                    self.samples_by = "loader"
        del self.fetched_batches[:]
        self._evaluated_since_fetch = self._evaluated_fetched = False

    def _reconsider_loader(self):
        """Corrects a loader that was classified as an evaluation's, because an evaluation came between its batch and
        its forward. Now the forward came at once."""
        loaders = {batch[0] for batch in self.fetched_batches}
        if len(loaders) == 1 and not self._evaluated_since_fetch:
            (loader,) = loaders
            if loader.training is False:
                loader.training = None

    def _forget_abandoned(self, samples_of_forward=None, next_read=None):
        """Drops batches of loaders that nobody reads any more, except for the last loader. That applies before the
        first step, to loaders that an evaluation reads, and to passes that were read to their end without training.
        Drops none if the forward uses all fetched batches."""
        fetched = self.fetched_batches
        if len(fetched) > 1 and samples_of_forward == sum(batch[1] for batch in fetched):
            self._only_read = None
            return
        self.prefetched.forget_abandoned(fetched, is_next_to_come=next_read is not None)
        last = next_read or (fetched[-1][0] if fetched else None)

        def is_abandoned(loader):
            may_be = loader.training is None and (self.steps == 0 or loader.is_evaluated_on or loader.is_exhausted)
            return may_be and loader is not last and not loader.is_read()

        left = [batch for batch in fetched if not is_abandoned(batch[0])]
        read, self._only_read = self._only_read, None
        if read is not None and len(left) < len(fetched) and all(batch[0] is not read[0] for batch in left):
            self._was_evaluation(*read[1:])
        fetched[:] = left

    def _was_evaluation(self, begin_s, end_s, totals_s):
        """Reports the time from the last step until then as an evaluation."""
        clock = self.clock
        if self._is_part_of_step() or clock.confirmed_s != begin_s:
            return
        self._evaluated_in_step = True
        self._parts.dropped()
        self.phases.ended("evaluation", begin_s, end_s)
        clock.leave_out(totals_s)
        clock.confirmed_s = end_s

    def _count_items(self, samples):
        """Corrects the counts if the loader's items are samples: a forward with `samples` uses as many items."""
        fetched = self.fetched_batches
        loader = fetched[0][0]
        if samples == len(fetched) and all(batch[0] is loader for batch in fetched):
            loader.gives_samples()
            fetched[:] = [(loader, 1, self._find_samples_of_all(loader, 1))] * samples

    def _take_for_step(self):
        """Takes batches for a step without a watched forward. In other steps, they are fetched for the next one."""
        if not self.is_fed and not self.training_forwards:
            self._forget_abandoned()
            self.take_fetched()
        elif self._evaluated_since_fetch:
            self._evaluated_since_fetch = self._evaluated_fetched = False
            self.fetched_batches[:] = [batch for batch in self.fetched_batches if batch[0].training]

    def _is_reading(self):
        """True if a pass over the last trained batches is still read, so a batch may serve several steps."""
        return any(loader.is_read() for loader in self.loaders_of_forward)

    # -- backward and step -----------------------------------------------------------------------

    def backward_begins(self):
        if self._evaluated_with_gradients and not self.training_forwards:
            # This program trains in evaluation mode, so from now on only gradients decide.
            self.modes_count = False
        self._end_phase()
        if self._taken_back:
            self._give_back()
        self._take_for_step()
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
        if self.received.before is not None:  # even if a step within the backward has ended the look
            self.received.backward_ended()
        if not self.training_forwards:
            # The forward was not seen; an evaluation before the step must not include its time.
            self.clock.confirm()
        self._parts.backward_ended()
        if self._noise_looks is not None:
            self._noise_looks.backward_ended(self)
        if not self.optimizers_made:
            self.step_ended()

    def step_ended(self):
        """Called when the optimizer's step is done."""
        self._end_phase()
        if self._taken_back:
            self._give_back()
        self._take_for_step()
        if self.prefetched.of_step:
            self.fetched_batches[:0] = self.prefetched.step_ended()
            self.take_fetched()
        self.steps += 1
        if not self.is_fed:
            self.unfed_step = self.steps
        if self.steps == 1:
            self.clock.clear()
            if self._host_watch is not None:
                self._host_watch.first_step_ended()
        self.clock.confirm()
        if self.samples_by == "loader" and not self.is_fed and not self._is_reading():
            # The program keeps batches (itertools.cycle, or one batch), so count inputs from now on.
            self.samples_by = "forward"
        if self.samples_by in ("none", "forward"):
            self._count_inputs()
        if self._steps_with_evaluation < _STEPS_WITH_TEACHER:
            consecutive = self._steps_with_evaluation + 1
            self._steps_with_evaluation = consecutive if self._evaluated_in_step else 0
        self._evaluated_in_step = False
        self.backwards_per_step = self.backwards
        self._loss_of_step, self.loss_roots = self.loss_roots, []
        if self._noise_looks is not None:
            self._noise_looks.step_ended(self)
        self._forget_step()
        if self.steps == 1 and self._prints:
            events = gpu_events.of(self._loss_of_step)
            if events is not None:
                self._parts = GpuParts(events, self.clock)
                self._has_gpu_parts = True
        self._parts.step_ended(self.steps)
        self._on_step(self)
        self._look_around()
        self.report.step(self.clock.now_s, self._document)

    def plain_step_ended(self):
        """Called after a plain step that is not reported."""
        clock = self.clock
        now_s = clock.now_s
        if (
            now_s >= self.report.due_s
            or self.steps + 1 >= self.full_step
            or self.backwards != self.backwards_per_step
            or self.prefetched.of_step
            or (self.fetched_batches and not self.is_fed and not self.training_forwards)
            or ((self.samples_by == "loader") != self.is_fed and self.samples_by != "given")
            or self._has_gpu_parts
        ):
            self.step_ended()
            return
        self.steps += 1
        clock.confirmed_totals_s[:] = clock.totals_s
        clock.confirmed_s = now_s
        if self.samples_by in ("none", "forward"):
            self._count_inputs()
        self.is_fed = False
        self._loss_of_step, self.loss_roots = self.loss_roots, []
        self._samples_before_step = self._samples
        self._samples_of_all_before_step = self._samples_of_all
        self.backwards = self.training_forwards = self.forwards_before_backward = 0
        self._forward_samples = self._followed_samples = self._backward_samples = 0
        self._counted = self.counted_inputs = None
        self.report.waiting = (now_s, self._document)

    def knows_program(self):
        """Allows plain steps, since the wrapped calls are final."""
        self._may_be_plain = True

    def _look_around(self):
        """Called after a step. Decides whether the next one starts as a plain step."""
        self.world_size = ranks.together()
        self.is_plain = (
            self._may_be_plain
            and self._restart is None
            and self._no_grad_batch is None
            and self._steps_with_evaluation in (0, _STEPS_WITH_TEACHER)
            and not self._parts.is_looking
        )
        self.look_step = self._next_look_step()
        self.received.step_ended(self.steps)

    def _next_look_step(self):
        if not self.optimizers_made:
            return 0  # each backward ends a step
        looks = self._noise_looks is not None and self._noise_looks.may_look(self)
        received_step = self.received.next_step(self.steps)
        return min(self._noise_looks.next_step, received_step) if looks else received_step

    def _count_inputs(self):
        samples = self._forward_samples
        if self._backward_samples:
            # Leaves out states that were only used to ask a policy, say.
            samples += self._backward_samples - self._followed_samples
        if samples != self._forward_samples or self.training_forwards > self._most_forwards:
            self._follow_until_step = self.steps + _STEPS_TO_FOLLOW
            self._most_forwards = max(self._most_forwards, self.training_forwards)
        if samples:
            self.samples_by = "forward"
            self._samples += samples
            self._samples_of_all += self._find_samples_of_all(None, samples)
            return
        # A call of `model.forward` is not seen, so assume the last batch.
        samples, samples_of_all = self._last_batch
        self._samples += samples
        self._samples_of_all += samples_of_all

    def step_skipped(self):
        """Called if a scaler found gradients that are not finite: no step, but its samples were seen."""
        self._end_checkpoint()
        self.clock.confirm()
        self.skipped_steps += 1
        self.loss_roots = []
        if self._noise_looks is not None:
            self._noise_looks.dropped()
        self._parts.dropped()
        self._forget_step()

    def other_optimizer_stepped(self):
        """Called when another optimizer has made its part of the same step."""
        self._end_checkpoint()
        self.clock.confirm()
        self._parts.optimizer_ended()
        self.training_forwards = self.forwards_before_backward = 0

    def optimizer_made(self):
        """Called when an optimizer is made. Forwards before the first one are not training."""
        if not self.optimizers_made:
            self._samples, self._samples_of_all = self._samples_before_step, self._samples_of_all_before_step
            self._forget_step()
        self.optimizers_made = True

    def _forget_step(self):
        self._samples_before_step = self._samples
        self._samples_of_all_before_step = self._samples_of_all
        self.is_fed = False
        self.backwards = 0
        self._forward_samples = self._followed_samples = self._backward_samples = 0
        self._counted = self.counted_inputs = None
        self.training_forwards = self.forwards_before_backward = 0
        self._evaluated_with_gradients = False

    # -- checkpoints -----------------------------------------------------------------------------

    def saves(self):
        """Called when the program begins to write a file. The files between two steps are one checkpoint."""
        self.is_plain = False  # the next forward ends the phase
        if self.phases.open:
            self._stay_in_phase()  # nothing was trained since the evaluation, or since the last file
        if self.phases.open != "checkpoint":
            self._end_phase()
            if self.steps > 0:
                self.phases.begin("checkpoint", self.clock.now_s)
        self.clock.confirm()
        self._parts.dropped()

    def saved(self):
        self.clock.confirm()
        if self.phases.open:
            self.phases.extend(self.clock.now_s)

    def ends(self):
        """Called at the program's end."""
        self._end_phase()
        self.report.flush()

    def forgotten(self):
        """Called when another Progress replaces this one in a forked child."""
        if self._host_watch is not None:
            self._host_watch.end()

    # -- reports ---------------------------------------------------------------------------------

    def samples(self):
        """Returns the samples up to the last step. Its line may be printed in the middle of the next step."""
        if self._given_samples is not None:
            return self.steps * self._given_samples
        return self._samples_of_all_before_step

    def samples_in_step(self):
        """Returns the samples of this rank in the current step."""
        if self._given_samples is not None:
            of_rank = self._given_samples / ranks.together()
            return of_rank * self.backwards / max(1, self.backwards_per_step)
        if self.samples_by == "loader":
            return self._samples - self._samples_before_step
        return self._forward_samples

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
        parts = self._parts.parts()
        document.update(self._parts.metrics())
        if parts is not None:
            document["parts"] = parts
        return document
