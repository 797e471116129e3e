# SPDX-License-Identifier: Apache-2.0
"""Averages gradients over all ranks, for the one outermost module that the program trains."""

import weakref

import torch

from steptune_hook.pytorch.gradients import trained_by

_STEPS_BY_HAND = 2  # in these steps, all ranks may have the whole batch
# Parts of DistributedDataParallel's error messages if a step used other parameters than the first steps.
_OTHER_PARAMETERS_PHRASES = ("finished reduction in the prior iteration", "training graph has changed")


class Averaging:
    """`give_up(why)` ends the process."""

    def __init__(self, hook, give_up, gathering):
        self._hook = hook
        self._gathering = gathering
        self._give_up = give_up
        self._world_size = torch.distributed.get_world_size()
        self._equal = weakref.WeakSet()  # modules that have the same weights on all ranks
        self._called = []  # called for training since the last backward
        self._called_in_evaluation = []
        self._module = None  # the outermost module
        self._parallel = None  # DistributedDataParallel around it; None in the first steps
        self._parameters = []  # of the outermost module
        self._trained = None  # trained parameters of the module, and the number of parameters that the optimizers have
        self._first_step = 0
        self._used = set()
        self._looks = []  # hooks that record used parameters
        self._unused = False  # True if some parameters are not used on all ranks
        self._buffers_differ = False
        self.wraps = False

    def forward(self, original, module):
        """Returns the function that calls this outermost module for a training step."""
        self._equalise(module)
        if module not in self._called:
            self._called.append(module)
        if module is not self._module:
            return original
        self._buffers_differ = True
        trained = self._what_is_trained()
        if trained != self._trained:
            self._begin_anew(trained)
        if self._parallel is None and self._hook.progress.steps - self._first_step >= _STEPS_BY_HAND:
            self._wrap_module()
        if self._parallel is None:
            return original
        return lambda _, *inputs, **named: self._in_parallel(inputs, named)

    def _in_parallel(self, inputs, named):
        try:
            return self._parallel(*inputs, **named)
        except RuntimeError as error:
            self.failed(error)
            raise

    def failed(self, error):
        """Gives up if DistributedDataParallel reports that a step used other parameters than the first steps. It did
        not average the gradients of these parameters."""
        if any(phrase in str(error) for phrase in _OTHER_PARAMETERS_PHRASES):
            self._give_up(
                "a step used other parameters of %s than the first steps did, but all ranks wait for the gradients of those: use the same parameters in every step"
                % type(self._module).__name__
            )

    def evaluation(self, original, module):
        """Makes buffers equal before an evaluation. After a training step each rank has its own running statistics.
        With different ones, ranks could decide differently (to stop early, say) and wait for each other forever."""
        if torch.is_grad_enabled():  # it may be trained in evaluation mode
            self._meet_for_evaluation(module not in self._equal)
            self._equalise(module)
            if module not in self._called_in_evaluation:
                self._called_in_evaluation.append(module)
        if self._buffers_differ and module is self._module:
            self._buffers_differ = False
            buffers = list(module.buffers())
            self._meet_for_evaluation(buffers)
            for buffer in buffers:
                torch.distributed.broadcast(buffer, src=0)
        return original

    def _meet_for_evaluation(self, differs):
        if differs:
            self._gathering.of_all("an evaluation", "evaluate on all")

    def may_train(self):
        """True if the module is in the mode in which the program trains it."""
        modes_count = self._hook.progress.modes_count
        return self._module is None or self._module.training or not modes_count

    def _equalise(self, module):
        """Copies rank 0's weights to all ranks. A program without a seed starts with different weights on each rank."""
        if module in self._equal:
            return
        self._equal.add(module)
        with torch.no_grad():
            for tensor in list(module.parameters()) + list(module.buffers()):
                torch.distributed.broadcast(tensor, src=0)

    def _what_is_trained(self):
        groups = [group for optimizer in self._hook.optimizers.alive for group in optimizer.param_groups]
        return [p.requires_grad for p in self._parameters], sum(len(group["params"]) for group in groups)

    def _begin_anew(self, trained):
        """Averages the next steps here again, to find the parameters that take part."""
        self._check_optimizers()
        self._trained = trained
        self._parallel = None
        self._unused = False
        self._look_no_more()
        for parameter in self._parameters:
            if parameter.requires_grad:
                self._looks.append(parameter.register_hook(self._look_at(id(parameter))))
        self._first_step = self._hook.progress.steps

    def _look_at(self, identity):
        # A gradient from an earlier step may be left, zeroed. So record the call.
        def look(gradient):
            self._used.add(identity)

        return look

    def _look_no_more(self):
        for look in self._looks:
            look.remove()
        del self._looks[:]

    def _wrap_module(self):
        """Wraps the module. The optimizer keeps its parameter objects, and the program keeps its module."""
        self._look_no_more()
        self.wraps = True
        try:
            self._parallel = torch.nn.parallel.DistributedDataParallel(
                self._module, find_unused_parameters=self._unused
            )
        finally:
            self.wraps = False

    def backward_begins(self):
        called = self._called or self._called_in_evaluation
        self._called, self._called_in_evaluation = [], []
        if not called:
            self._give_up("a backward without a forward of a module before it: its gradients would not be averaged")
        if self._module is None:
            self._module = called[-1]
            self._parameters = list(self._module.parameters())
        for module in called:
            if module is not self._module:
                names = (type(self._module).__name__, type(module).__name__)
                self._give_up("the program trains two outermost modules, %s and %s" % names)
        if self._trained is None:
            self._check_module()
            self._begin_anew(self._what_is_trained())

    def backward_ended(self):
        """Averages the gradients of the first steps, which show the parameters that take part. DistributedDataParallel
        could also search for unused parameters, but that costs time in each step."""
        if self._parallel is not None or self._module is None:
            return
        trained = [p for p in self._parameters if p.requires_grad]
        if not trained:
            return
        used = torch.tensor([float(id(p) in self._used) for p in trained], device=trained[0].device)
        self._used.clear()
        torch.distributed.all_reduce(used)
        ranks_using = used.tolist()
        self._unused = self._unused or min(ranks_using) < self._world_size
        for parameter, count in zip(trained, ranks_using):
            if count == 0:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            torch.distributed.all_reduce(parameter.grad)
            parameter.grad /= self._world_size

    def _check_module(self):
        cls = type(self._module)
        if cls.__call__ is not torch.nn.Module.__call__:
            self._give_up("%s has its own __call__, so it cannot be wrapped" % cls.__name__)
        backend = torch.distributed.get_backend()
        for device in {p.device for p in self._parameters}:
            if device.type == "cuda" and device.index != torch.cuda.current_device():
                self._give_up("the program puts its model on a GPU by number: write `cuda` in place of `cuda:0`")
            if device.type != "cuda" and backend == "nccl":
                self._give_up("the model is on %s, while the process group was set up for GPUs (NCCL)" % device.type)

    def _check_optimizers(self):
        own = {id(p) for p in self._parameters}
        for optimizer in self._hook.optimizers.alive:
            params = [p for p in trained_by([optimizer]) if p.requires_grad]
            outside = sum(id(p) not in own for p in params)
            if outside:
                self._give_up(
                    "the optimizer trains %d parameters, %d of them outside %s"
                    % (len(params), outside, type(self._module).__name__)
                )

    def release(self):
        self._parallel = None
