# SPDX-License-Identifier: Apache-2.0
"""Counts the samples that steps train on, by a loader's batches or by the inputs of forwards."""

import weakref

import torch

from steptune_hook import ranks
from steptune_hook.pytorch import tensors

_STEPS_TO_FOLLOW = 10  # after a change of the step's forwards


class SampleCount:
    """`total` and `total_of_all` are the samples of this rank and of all ranks. `by` says what is counted: `loader`
    (batches), `forward` (inputs of forwards), `given` (the study gives the number per step) or `none`.

    Steps that run often change the attributes directly, since each function call takes microseconds."""

    def __init__(self, given, of_all_ranks):
        self.by = "none" if given is None else "given"
        self.total = 0
        self.total_of_all = 0
        self.before_step = 0
        self.of_all_before_step = 0
        self.last_batch = (0, 0)  # samples here, and on all ranks
        self.counted_inputs = None  # inputs of the current forward, if its backward must be watched
        self._given = given
        self._of_all_ranks = of_all_ranks
        self.of_forwards = 0  # samples in the inputs of the step's forwards
        self.followed = 0  # samples of the step's forwards whose backward is watched
        self.reached = 0  # part of `followed` that a backward has reached
        # Last module whose inputs were counted in this step, their first tensor, and their `_CountedInputs`.
        self.last_counted = None
        self._follow_until_step = _STEPS_TO_FOLLOW
        self._most_forwards = 0  # largest number in a step

    def up_to(self, steps):
        """Returns the samples of all ranks up to the last step. Its line may be printed in the middle of the next."""
        return self.of_all_before_step if self._given is None else steps * self._given

    def in_step(self, backwards, backwards_per_step):
        """Returns the samples of this rank in the current step."""
        if self._given is not None:
            of_rank = self._given / ranks.together()
            return of_rank * backwards / max(1, backwards_per_step)
        return self.total - self.before_step if self.by == "loader" else self.of_forwards

    def count_forward(self, module, inputs, named_inputs, steps):
        """Counts the samples of a forward without a batch. Inputs that two modules share (an actor and a critic) count
        once."""
        if self.by == "given" or torch.jit.is_tracing():  # traced sizes are tensors
            return
        tensor = tensors.first_tensor((inputs, named_inputs))
        if tensor is not None and self.last_counted is not None:
            former, former_tensor, counted = self.last_counted
            if former is not module and former_tensor() is tensor:
                self.counted_inputs = counted
                return
        if self.last_counted is not None and tensors.any_computed((inputs, named_inputs)):
            # The input is the output of an earlier module: embedding, encoder and head are called in turn.
            self.counted_inputs = self.last_counted[2]
            return
        samples = tensors.samples_in_inputs(inputs, named_inputs)
        self.of_forwards += samples
        if steps < self._follow_until_step:
            self.counted_inputs = _CountedInputs(self, samples)
        if tensor is not None:
            self.last_counted = (module, weakref.ref(tensor), self.counted_inputs)

    def count_inputs(self, steps, forwards):
        """Adds the samples of a step's forwards. If none were seen, assumes the last batch."""
        samples = self.of_forwards
        if self.reached:
            # Leave out samples without a backward, such as states about which a policy was only asked.
            samples += self.reached - self.followed
        if samples != self.of_forwards or forwards > self._most_forwards:
            self._follow_until_step = steps + _STEPS_TO_FOLLOW
            self._most_forwards = max(self._most_forwards, forwards)
        if samples:
            self.by = "forward"
            self.total += samples
            self.total_of_all += self._of_all_ranks(None, samples)
            return
        # A call of `model.forward` is not seen.
        samples, samples_of_all = self.last_batch
        self.total += samples
        self.total_of_all += samples_of_all

    def take_back(self, total, total_of_all):
        """Returns the samples here and on all ranks since the totals were these, and no longer counts them."""
        taken = self.total - total, self.total_of_all - total_of_all
        self.total, self.total_of_all = total, total_of_all
        return taken

    def forget_step(self):
        """No longer counts the samples since the last step."""
        self.total, self.total_of_all = self.before_step, self.of_all_before_step

    def end_step(self):
        self.before_step = self.total
        self.of_all_before_step = self.total_of_all
        self.of_forwards = self.followed = self.reached = 0
        self.last_counted = self.counted_inputs = None


class _CountedInputs:
    """Samples in the inputs of a forward. They count as trained on if a backward goes through the forward's output.
    `count` is the `SampleCount` to which they belong."""

    def __init__(self, count, samples):
        self._count = count
        self._samples = samples
        self._is_followed = False
        self._is_trained_on = False

    def follow(self, output):
        """Watches the output for a backward. An output without tensors cannot be watched, so its samples count as
        trained on."""
        found = tensors.all_in(output)
        # The hook is on the node, since a tensor may be pickled with its hooks.
        try:
            for node in {_node(tensor) for tensor in found} - {None}:
                node.register_hook(self._backward_comes)
        except RuntimeError:  # within a transformation such as torch.func
            return
        if found and not self._is_followed:
            self._is_followed = True
            self._count.followed += self._samples

    def _backward_comes(self, *_):
        if not self._is_trained_on:
            self._is_trained_on = True
            self._count.reached += self._samples


def _node(tensor):
    """Returns the node that a backward through the tensor reaches. For a view, this is the node of its base: a later
    write gives the view a new node, but not the base."""
    of_base = tensor._base.grad_fn if tensor._is_view() else None
    return tensor.grad_fn if of_base is None else of_base
