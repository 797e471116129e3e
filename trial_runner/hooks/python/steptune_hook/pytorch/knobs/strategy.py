# SPDX-License-Identifier: Apache-2.0
"""Lets the ranks of a launch train one model together although the program knows only one process. Each rank trains on
its share of every batch, by DistributedDataParallel (`ddp`)."""

import gc
import multiprocessing
import os

import torch
from torch.utils.data import IterableDataset

from steptune_hook import ranks
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.pytorch.knobs import process_group
from steptune_hook.pytorch.knobs.averaging import Averaging
from steptune_hook.pytorch.knobs.gathering import Gathering
from steptune_hook.pytorch.knobs.shared_batches import SharedBatches

_NAME = "distributed_strategy"
_CHOICES = ["none", "ddp"]
_DISTRIBUTES_ITSELF = "the program distributes itself"


class DistributedStrategyKnob:
    def __init__(self, hook, requested):
        self._hook = hook
        self._rank, self._world_size = ranks.rank_and_world_size()
        if multiprocessing.parent_process() is not None:
            self._world_size = 1  # a child of a rank, such as a loader's worker
        self._pid = os.getpid()
        self._value = requested.get(_NAME, "none") if self._world_size > 1 else "none"
        self.is_asked = self._value != "none"  # if False, forwards and backwards need not be reported to this object
        self._of_program = None  # strategy that the program itself uses
        self._refused = None
        self._averaging = None  # set once the ranks have joined
        self.gathering = None  # also set once the ranks have joined
        self._has_loader = False
        self._lacks_gpu = False

    def is_on(self):
        return self._value != "none" and self._refused is None and self._pid == os.getpid()

    def is_one_training(self):
        return self._averaging is not None and self.is_on()

    def is_wrapping(self):
        return self._averaging is not None and self._averaging.wraps

    def program_wraps(self, what):
        if not self.is_wrapping():
            self._of_program = what
            self._refuse(_DISTRIBUTES_ITSELF)

    def _refuse(self, why):
        if self._refused is None:
            self._refused = why
            self._hook.survey_after_step()

    def hook_failed(self, why):
        """Ends the process. Without the hook, each rank would train by itself, with a part of the data or all of it."""
        if self.is_on():
            self._end_process(why)

    def _give_up(self, why):
        """Informs the tuner, and ends the process. The tuner would otherwise see a failing process without a reason."""
        with self._hook.printer.aloud():
            self._hook.events.tell("gave_up", knob=_NAME, value=self._value, why=why)
            self._hook.events.open()
        self._end_process(why)

    def _end_process(self, why):
        raise SystemExit("steptune: %s=%s: %s" % (_NAME, self._value, why))

    def wrap(self):
        if self._value == "none":
            return
        why = process_group.why_not()
        if why is not None:
            self._give_up(why)
        process_group.seed_equally()
        self._hook.patches.replace(torch.distributed, "init_process_group", self._wrap_init)
        if torch.cuda.is_available():
            self._lacks_gpu = process_group.local_rank() >= torch.cuda.device_count()
            if not self._lacks_gpu:
                # From now on `cuda` without a number means this rank's GPU.
                torch.cuda.set_device(process_group.local_rank())

    def _wrap_init(self, original):
        def init_process_group(*arguments, **named):
            if self._hook.active and self._averaging is None:
                self._refuse(_DISTRIBUTES_ITSELF)
            return original(*arguments, **named)

        return init_process_group

    def begin(self):
        """Joins the ranks, once. True if they train together."""
        if self.is_on() and self._averaging is None:
            if torch.distributed.is_initialized():
                self._refuse(_DISTRIBUTES_ITSELF)
                return False
            uses_gpu = self._uses_gpu()
            if uses_gpu and self._lacks_gpu:
                self._give_up("there are more processes than GPUs (%d)" % torch.cuda.device_count())
            with self._hook.aside():
                process_group.join("nccl" if uses_gpu else "gloo")
            is_long_run = self._hook.settings.mode == "apply"
            self.gathering = Gathering(lambda: self._hook.progress.steps, self._give_up, is_long_run)
            self._averaging = Averaging(self._hook, self._give_up, self.gathering)
        return self.is_on()

    def _uses_gpu(self):
        """True if the model is on a GPU. A machine may have a GPU while the model trains on the CPU."""
        groups = [group for o in self._hook.optimizers.alive for group in o.param_groups]
        parameters = [p for group in groups for p in group["params"]]
        if parameters:
            return any(p.is_cuda for p in parameters)
        return torch.cuda.is_available() and torch.cuda.is_initialized()

    def end(self):
        """Joins the threads of the process group. A thread that still runs while the interpreter ends can end the
        process by std::terminate."""
        if self._pid != os.getpid() or self._averaging is None or not torch.distributed.is_initialized():
            return
        self._averaging.release()
        gc.collect()
        torch.distributed.destroy_process_group()
        gc.collect()

    def share(self, loader, facts):
        """Called when a pass begins over a loader on whose batches the program may train. All ranks get the same
        batches in the same order. The batches are divided once the loader is known to train."""
        if not self.begin():
            return
        self._has_loader = True
        if loader.batch_sampler is None or isinstance(loader.dataset, IterableDataset):
            facts.not_shared = "a loader of %s has no batches of indices to divide" % type(loader.dataset).__name__
            return
        if facts.shared is None:
            facts.shared = SharedBatches(loader.batch_sampler, self._rank, self._world_size)
            loader.__dict__["batch_sampler"] = facts.shared  # guarded by __setattr__ after construction
        facts.shared.pass_begins(trains=torch.is_grad_enabled() and self._averaging.may_train())
        what = "a pass over a loader of %s" % type(loader.dataset).__name__
        self.gathering.of_all(what, "iterate over it on all")
        process_group.agree_on_random_numbers(loader)

    def samples_of_all(self, facts, samples):
        """Returns the samples of all ranks in a batch of which this rank has `samples`. `facts`: facts about the
        loader; None for inputs of a forward."""
        if facts is None or not self.is_one_training():
            return samples * ranks.together()
        shared = getattr(facts, "shared", None)
        return samples if shared is None else shared.samples_of_all(samples)

    def forward_of_all(self, original, module):
        """Returns `original`, this outermost module's call in a training step, changed for all ranks."""
        return self._averaging.forward(original, module) if self.begin() else original

    def evaluation_of_all(self, original, module):
        """Returns `original`, its call in an evaluation, changed for all ranks."""
        return self._averaging.evaluation(original, module) if self.is_one_training() else original

    def backward_begins(self):
        if not self.begin():
            return
        if self._hook.progress.steps == 0:
            if any(isinstance(o, torch.optim.LBFGS) for o in self._hook.optimizers.alive):
                self._give_up("LBFGS decides by the loss, and each rank knows only the loss of its own part")
            if not self._has_loader:
                self._give_up("the program's batches come from no DataLoader, so they cannot be divided")
        self._averaging.backward_begins()
        for facts in self._hook.progress.batches.loaders_of_forward:
            if facts.not_shared is not None:
                self._give_up(facts.not_shared)
            if facts.shared is not None:
                facts.shared.trained()

    def backward_ended(self):
        if self.is_one_training():
            self._averaging.backward_ended()

    def backward_failed(self, error):
        if self.is_one_training():
            self._averaging.failed(error)

    def statuses(self):
        today = self._of_program or "none"
        why = self._refused
        if self._of_program is not None or (self._averaging is None and _is_initialized()):
            why = _DISTRIBUTES_ITSELF
        elif self._world_size == 1:
            why = "one process"
        elif why is None and not self.is_asked:
            why = process_group.why_not()
        value = today if why else self._value
        yield KnobStatus(_NAME, today=today, value=value, why=why, choices=_CHOICES)


def _is_initialized():
    return torch.distributed.is_available() and torch.distributed.is_initialized()
