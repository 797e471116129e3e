# SPDX-License-Identifier: Apache-2.0
"""How the ranks of a launch train one model together where the program itself knows of one process
only: each on its share of every batch, by DistributedDataParallel, with the optimiser's state whole
on each rank (`ddp`) or in pieces (`zero`)."""

import gc
import os

import torch
from torch.utils.data import IterableDataset

from steptune_pytorch import ranks
from steptune_pytorch.knobs.row import Row
from steptune_pytorch.knobs.shared_batches import SharedBatches
from steptune_pytorch.knobs.zero import release_process_group, sharded_classes

_NAME = "distributed_strategy"
_CHOICES = ["none", "ddp", "zero"]


class StrategyKnob:
    def __init__(self, hook, asked):
        self._hook = hook
        self._rank, self._world_size = ranks.rank_and_world_size()
        self._value = asked.get(_NAME, "none") if self._world_size > 1 else "none"
        self._of_program = None  # what it does itself
        self._refused = None
        self._begun = False
        self._wraps = False  # a module is being wrapped, for the program
        self._module = None  # the outermost one
        self._parallel = None  # what stands in front of it from the second step on
        self._unused = False  # parameters that take no part
        self._shares = False
        self._buffers_differ = False

    # -- which ------------------------------------------------------------------------------------

    def is_on(self):
        return self._value != "none" and self._refused is None

    def is_replica(self):
        """Whether this process does what another one does, too: one of them writes files."""
        return self.is_on() and self._begun and self._rank > 0

    def is_wrapping(self):
        return self._wraps

    def program_wraps(self, what):
        """The program has put this in front of a module of its own."""
        if not self._wraps:
            self._of_program = what
            self._refuse("the program distributes itself")

    def _refuse(self, why):
        if self._refused is None:
            self._refused = why
            self._hook.survey_due = True

    def hook_failed(self, why):
        """Without the hook each rank would go on by itself, with a part of the data."""
        if self._begun and self._value != "none":
            self._give_up(why)

    def _give_up(self, why):
        raise SystemExit("steptune: %s=%s: %s" % (_NAME, self._value, why))

    # -- one training of all ranks ----------------------------------------------------------------

    def wrap(self):
        if self._value == "none":
            return
        if not torch.distributed.is_available():
            self._refuse("this PyTorch is built without torch.distributed")
            return
        self._hook.patches.replace(torch.distributed, "init_process_group", self._wrap_init)
        if torch.cuda.is_available():
            # `cuda` without a number is this rank's GPU from now on.
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        if self._value == "zero":
            for name, sharded in sharded_classes(self._hook).items():
                setattr(torch.optim, name, sharded)

    def _wrap_init(self, original):
        def init_process_group(*arguments, **named):
            if self._hook.active and not self._begun:
                self._refuse("the program distributes itself")
            return original(*arguments, **named)

        return init_process_group

    def begin(self):
        """The ranks meet. True if they train together."""
        if self.is_on() and not self._begun:
            if torch.distributed.is_initialized():
                self._refuse("the program distributes itself")
                return False
            self._begun = True
            backend = "nccl" if torch.cuda.is_available() else "gloo"
            torch.distributed.init_process_group(backend)
        return self.is_on()

    def end(self):
        """Joins the threads of the process group: one that still runs while the interpreter ends can
        end the process by std::terminate."""
        if not self._begun or not torch.distributed.is_initialized():
            return
        self._parallel = None
        for optimizer in self._hook.optimizers.alive:
            release_process_group(optimizer)
        gc.collect()
        torch.distributed.destroy_process_group()
        gc.collect()

    # -- data -------------------------------------------------------------------------------------

    def share(self, loader):
        """A pass over a training loader begins: its batches are divided, in the same order on all
        ranks."""
        if not self.begin():
            return
        if loader.batch_sampler is None or isinstance(loader.dataset, IterableDataset):
            self._give_up("a loader of %s has no batches of indices to divide" % type(loader.dataset).__name__)
        if not isinstance(loader.batch_sampler, SharedBatches):
            shared = SharedBatches(loader.batch_sampler, self._rank, self._world_size)
            loader.__dict__["batch_sampler"] = shared  # guarded by __setattr__ after construction
        self._shares = True
        self._agree_on_random_numbers(loader)

    def _agree_on_random_numbers(self, loader):
        """Samplers draw the order from them; an unseeded program has its own on each rank."""
        generators = {
            id(g): g
            for g in (loader.generator, getattr(loader.sampler, "generator", None))
            if isinstance(g, torch.Generator)
        }
        sources = _sources() + [(g.get_state, g.set_state) for g in generators.values()]
        states = [get() for get, _ in sources]
        torch.distributed.broadcast_object_list(states, src=0)
        if self._rank > 0:
            for (_, put), state in zip(sources, states):
                put(state)

    # -- forward ----------------------------------------------------------------------------------

    def forward_of_all(self, original, module):
        """`original`, the call of this outermost module for a training step, on all ranks."""
        if not self.begin():
            return original
        if self._module is None:
            self._check(module)
            self._module = module
            self._equalise()
        elif module is not self._module:
            names = (type(self._module).__name__, type(module).__name__)
            self._give_up("the program trains two outermost modules, %s and %s" % names)
        self._buffers_differ = True
        if self._hook.progress.steps == 0:
            return original
        if self._parallel is None:
            self._wrap_module()
        parallel = self._parallel
        return lambda _, *inputs, **named: original(parallel, *inputs, **named)

    def before_evaluation(self, module):
        """Running statistics are each rank's own after a training step. Evaluated with different ones
        the ranks could decide differently, on an early end, say, and wait for each other for ever."""
        if self._buffers_differ and module is self._module:
            self._buffers_differ = False
            for buffer in module.buffers():
                torch.distributed.broadcast(buffer, src=0)

    def _check(self, module):
        if any(isinstance(o, torch.optim.LBFGS) for o in self._hook.optimizers.alive):
            self._give_up("LBFGS decides by the loss, which each rank has of its own part alone")
        if not self._shares:
            self._give_up("the program's batches come from no DataLoader, so that they cannot be divided")
        devices = {p.device for p in module.parameters()}
        if any(d.type == "cuda" and d.index != torch.cuda.current_device() for d in devices):
            self._give_up("the program puts its model on a GPU by number: write `cuda` in place of `cuda:0`")

    def _equalise(self):
        """An unseeded program begins with other parameters on each rank."""
        with torch.no_grad():
            for tensor in list(self._module.parameters()) + list(self._module.buffers()):
                torch.distributed.broadcast(tensor, src=0)

    def backward_ended(self):
        """The first step is averaged here. It shows which parameters take part: looking for those
        that do not would cost DistributedDataParallel time in each step."""
        if self._module is None or self._parallel is not None or not self.is_on():
            return
        self._unused = False
        for parameter in self._module.parameters():
            if not parameter.requires_grad:
                continue
            ranks_using = torch.tensor([float(parameter.grad is not None)], device=parameter.device)
            torch.distributed.all_reduce(ranks_using)
            if ranks_using.item() == 0:
                self._unused = True
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            torch.distributed.all_reduce(parameter.grad)
            parameter.grad /= self._world_size

    def _wrap_module(self):
        """Parameters stay the objects that the optimiser has, and the program keeps its module."""
        self._wraps = True
        try:
            self._parallel = torch.nn.parallel.DistributedDataParallel(
                self._module, find_unused_parameters=self._unused
            )
        finally:
            self._wraps = False

    # -- what is told -----------------------------------------------------------------------------

    def rows(self):
        today = self._of_program or "none"
        why = self._refused
        if self._of_program is not None:
            why = "the program distributes itself"
        elif self._world_size == 1:
            why = "one process"
        value = today if why else self._value
        yield Row(_NAME, today=today, value=value, why=why, choices=_CHOICES)


def _sources():
    """How the random numbers of a program are read and set: (get, set) each."""
    import random
    import sys

    sources = [(torch.get_rng_state, torch.set_rng_state), (random.getstate, random.setstate)]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        sources.append((numpy.random.get_state, numpy.random.set_state))
    return sources
