# SPDX-License-Identifier: Apache-2.0
"""Measures two norms in one step: the norm of this rank's own gradient, before DistributedDataParallel averages it, and
the norm of the mean over all ranks. So one step gives norms over few and over many samples, without further
communication."""

import sys
from time import perf_counter

import torch

from steptune_hook.pytorch.gradients import is_dense, norm_of

_AVERAGING_HOOKS = (None, "", "BuiltinCommHookType.ALLREDUCE")  # communication hooks that only average


class RankGradients:
    """Measures the only backward of a step. Its methods return False if the measurement has failed."""

    compares_ranks = True
    backwards = 1

    def __init__(self, gradients):
        self.norms = []  # before the backward, of this rank, of all ranks
        self.samples = 0
        self.spent_s = 0.0
        self._gradients = gradients
        self._releases = []
        self._own_norms = []  # by parameter
        self._reached = set()
        self._is_sound = True
        self._fault = None

    def few_samples(self):
        return self.samples

    def many_samples(self):
        return self.samples * self._gradients.ranks

    def begins(self):
        parallel = self._gradients.parallel
        if parallel is None or not _averages_unchanged(parallel, self._gradients.parameters):
            return False
        before = self._gradients.norm()
        if before is None:
            return False
        self.norms.append(before)
        for parameter in self._gradients.parameters:
            if parameter.requires_grad:
                self._add_hook(parameter)
        return True

    def backward_begins(self):
        """Called if the step has a second backward. The measurement then fails, because the gradient is a sum over
        backwards."""
        return False

    def backward_ended(self, progress):
        if self._fault is not None:
            raise self._fault
        if progress.training_forwards != 1 or not self._gradients.are_whole() or not self._has_reached_all():
            return False
        self.samples = progress.samples_in_step()
        of_all = self._gradients.norm()
        if self.samples <= 0 or of_all is None:
            return False
        self.norms += [torch.linalg.vector_norm(torch.stack(self._own_norms)), of_all]
        return True

    def release(self):
        for release in self._releases:
            release()
        del self._releases[:]

    def _add_hook(self, parameter):
        """Adds a hook to the parameter. It runs after the program's own hooks, so it sees the gradient that they return."""
        had_hooks = parameter._backward_hooks is not None

        def receive(gradient):
            begin_s = perf_counter()
            try:
                self._record_norm(id(parameter), gradient)
            except Exception as error:  # raised later, because it is no error of the program
                self._fault = error
            self.spent_s += perf_counter() - begin_s

        handle = parameter.register_hook(receive)

        def release():
            handle.remove()
            if not had_hooks and not parameter._backward_hooks:
                parameter._backward_hooks = None  # otherwise each backward searches an empty dictionary

        self._releases.append(release)

    def _record_norm(self, key, gradient):
        # Activation checkpointing may run a backward within this one. The hook is then called twice for a parameter,
        # each time with a part of the gradient.
        is_whole = key not in self._reached and is_dense(gradient)
        if not is_whole or gradient.device != self._gradients.parameters[0].device:
            self._is_sound = False
            return
        self._reached.add(key)
        self._own_norms.append(norm_of(gradient.detach()).float())

    def _has_reached_all(self):
        """True if the hooks saw the whole gradient of this rank. If DistributedDataParallel allows unused parameters,
        some hooks need not be called: the rank's own gradient of a parameter that only other ranks used is zero."""
        if not self._is_sound or not self._own_norms:
            return False
        parallel = self._gradients.parallel
        if parallel.find_unused_parameters or getattr(parallel, "static_graph", False):
            return True
        return all(p.grad is None or id(p) in self._reached for p in self._gradients.parameters)


def _averages_unchanged(parallel, parameters):
    """True if the ranks average exactly the gradients that AccumulateGrad receives."""
    if parallel._get_ddp_logging_data().get("comm_hook") not in _AVERAGING_HOOKS:
        return False  # for example, gradients are compressed, or not averaged
    if parallel._join_config.enable:
        return False  # some ranks may have run out of batches
    if getattr(parallel, "_use_python_reducer", False) or _compiles_backward():
        return False  # PyTorch would compile the backward again, with the hooks that `_add_hook` adds
    if any(getattr(p, "_post_accumulate_grad_hooks", None) for p in parameters):
        return False  # such hooks change gradients before they are averaged
    ignored = parallel.parameters_to_ignore
    averaged = {id(p) for name, p in parallel.module.named_parameters() if name not in ignored}
    return all(id(p) in averaged for p in parameters if p.requires_grad)


def _compiles_backward():
    state = sys.modules.get("torch._dynamo.compiled_autograd")
    config = sys.modules.get("torch._dynamo.config")
    return getattr(state, "compiled_autograd_enabled", False) or getattr(config, "compiled_autograd", False)
