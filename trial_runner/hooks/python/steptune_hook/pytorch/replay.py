# SPDX-License-Identifier: Apache-2.0
"""Ends a survey with steps on kept batches. No setting of the loader can give a shorter step time than these steps
have."""

import copy
import numbers
from collections import UserDict
from time import perf_counter

import torch

from steptune_hook import ranks
from steptune_hook.free_memory import free_bytes
from steptune_hook.pytorch import loader_queue, tensors

_FEWEST_BATCHES, _MOST_BATCHES = 2, 16
_KEEPING_S = 1.0  # longest time of keeping batches, once there are enough
_SHARE_OF_MEMORY = 1 / 16
_WARM_UP_STEPS = 3
_WARM_UP_S = 1.0  # longest warm-up, in which workers fill their queue and compete for the CPUs
_STEPS, _STEPS_S = 30, 0.5  # least number of steps and seconds to measure, within _MOST_S
_MOST_S = 2.0
_FEWEST_STEPS = 3

_OWN = object()  # the loader's own batch


class _CannotReplay(Exception):
    pass


class Replay:
    """Its stages, in order: `_watch` the program, `_keep` batches, `_warm_up` on them, `_measure`; None: over."""

    def __init__(self, hook, after_s, after_steps):
        self._hook = hook
        self._after_s = after_s
        self._after_steps = after_steps
        self._stage = self._watch
        self._first_s = None  # time at the end of the first step
        self._steps = 0  # number of steps at the last request for a batch
        self._from = None  # training seconds and steps at the start of the current mean
        self._before_step_s = 0.0
        self._facts = None  # facts of the loader whose batches are kept
        self._kept = []
        self._free_bytes = 0.0
        self._next = 0  # index of the next kept batch
        self._stage_s = 0.0  # start of the stage

    def around(self, original, passes):
        def __next__(iterator):
            facts = passes[id(iterator)][1] if self._stage is not None and id(iterator) in passes else None
            if facts is None or not facts.training:
                return original(iterator)
            batch = self._try(self._stage, facts, iterator)
            if batch is not _OWN:
                return batch
            batch = original(iterator)
            if self._stage == self._keep:
                self._try(self._keep_batch, batch)
            return batch

        return __next__

    def forget(self):
        self._stage = None
        self._kept = []

    def _try(self, act, *what):
        try:
            return act(*what)
        except _CannotReplay as why:
            self._end(why=str(why))
        except Exception as error:
            self._end(why="%s: %s" % (type(error).__name__, error))
        return _OWN

    def _watch(self, facts, _):
        progress = self._hook.progress
        if progress.steps == 0 or not self._is_new_step():
            return _OWN
        now_s = perf_counter()
        if self._first_s is None:
            self._first_s = now_s
        if self._from is None and now_s - self._first_s >= self._after_s / 2:
            # The first steps are slow, so leave them out.
            self._from = self._now()
        if now_s - self._first_s < self._after_s or progress.steps - 1 < self._after_steps or self._from is None:
            return _OWN
        if self._from[1] == progress.steps:
            return _OWN
        if ranks.together() > 1 or not self._is_only_loader(facts):
            self.forget()
            return _OWN
        self._before_step_s = self._mean_step_s()
        self._facts = facts
        self._free_bytes = _SHARE_OF_MEMORY * free_bytes()
        # Reported counters, times and parts do not include replayed steps.
        progress.report.flush()
        progress.report.stop()
        self._hook.events.tell("replay_begun")
        self._go_to(self._keep)
        return _OWN

    def _keep(self, facts, iterator):
        self._check(facts)
        kept = len(self._kept)
        may_end = kept >= _FEWEST_BATCHES and (perf_counter() - self._stage_s >= _KEEPING_S or self._free_bytes <= 0)
        if kept < _MOST_BATCHES and not may_end:
            return _OWN
        self._from = self._now()
        self._go_to(self._warm_up)
        return self._warm_up(facts, iterator)

    def _warm_up(self, facts, iterator):
        self._check(facts)
        if self._is_new_step() and self._hook.progress.steps - self._from[1] >= _WARM_UP_STEPS:
            if perf_counter() - self._stage_s >= _WARM_UP_S or _has_full_queue(iterator):
                _await_gpu()
                self._from = self._now()
                self._go_to(self._measure)
        return self._give()

    def _measure(self, facts, _):
        self._check(facts)
        steps = self._hook.progress.steps - self._from[1]
        if not self._is_new_step() or steps < _FEWEST_STEPS:
            return self._give()
        seconds = self._now()[0] - self._from[0]
        if seconds < _MOST_S and (seconds < _STEPS_S or steps < _STEPS):
            return self._give()
        _await_gpu()
        self._end(steps=steps, step_s=self._mean_step_s(), before_step_s=self._before_step_s)
        return _OWN

    def _go_to(self, stage):
        self._stage = stage
        self._stage_s = perf_counter()

    def _end(self, **fields):
        has_begun = self._facts is not None
        self.forget()
        if has_begun:
            self._hook.events.tell("replay_ended", **fields)

    def _is_new_step(self):
        """True once after each step, since stages change only between steps."""
        before, self._steps = self._steps, self._hook.progress.steps
        return self._steps != before

    def _is_only_loader(self, facts):
        return all(other.id == facts.id for other in self._hook.loaders.known.values() if other.training)

    def _check(self, facts):
        if facts is self._facts:
            return
        if facts.id == self._facts.id and self._facts.is_exhausted:
            self._facts = facts  # the program makes a new loader for each pass
        else:
            raise _CannotReplay("the program trains on several loaders")

    def _now(self):
        """Returns the seconds of training so far, without phases such as evaluation, and the steps."""
        clock = self._hook.clock
        return clock.confirmed_training_s() + perf_counter() - clock.confirmed_s, self._hook.progress.steps

    def _mean_step_s(self):
        seconds, steps = self._now()
        return (seconds - self._from[0]) / (steps - self._from[1])

    def _keep_batch(self, batch):
        kept = _KeptBatch(batch)
        self._free_bytes -= kept.bytes
        if self._free_bytes < 0 and len(self._kept) < _FEWEST_BATCHES:
            raise _CannotReplay("its batches take more than a sixteenth of the free memory")
        self._kept.append(kept)

    def _give(self):
        batch = self._kept[self._next % len(self._kept)].batch()
        self._next += 1
        return batch


class _KeptBatch:
    """A batch whose tensors are copies. Tensors of workers use shared memory, which is scarce in containers."""

    def __init__(self, batch):
        self.bytes = 0
        self._versions = []
        self._batch = _copied(batch, self._own_tensor)

    def _own_tensor(self, tensor):
        if tensor.device.type != "cpu" or tensor.layout is not torch.strided or tensor.requires_grad:
            raise _CannotReplay("its batches hold other tensors than dense ones in main memory")
        # A copy would not be pinned, and would be slow to reach the GPU.
        own = tensor if torch.cuda.is_initialized() and tensor.is_pinned() else tensor.clone()
        self.bytes += own.element_size() * own.numel()
        self._versions.append((own, tensors.writes(own)))
        return own

    def batch(self):
        """Returns the batch in new containers, since a program may remove items."""
        if any(tensors.writes(tensor) != version for tensor, version in self._versions):
            raise _CannotReplay("the program changes its batches in place")
        return _copied(self._batch, torch.Tensor.detach)


def _copied(value, copied_tensor):
    if isinstance(value, torch.Tensor):
        return copied_tensor(value)
    if isinstance(value, (tuple, list)):
        parts = [_copied(part, copied_tensor) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, (dict, UserDict)):
        copied = copy.copy(value)
        for key, part in value.items():
            copied[key] = _copied(part, copied_tensor)
        return copied
    if value is None or isinstance(value, (str, bytes, numbers.Number)):
        return value
    raise _CannotReplay("its batches hold values of the type %s" % type(value).__name__)


def _has_full_queue(iterator):
    """True if the workers have filled the queue and wait, or if there are no workers."""
    if not loader_queue.has_queue(iterator):
        return True
    waiting = loader_queue.waiting_batches(iterator)
    return waiting is not None and waiting.depth >= getattr(iterator, "_tasks_outstanding", float("inf"))


def _await_gpu():
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
