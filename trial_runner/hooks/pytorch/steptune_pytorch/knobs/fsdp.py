# SPDX-License-Identifier: Apache-2.0
"""Parameters, gradients and the optimizer's state in pieces on the ranks (ZeRO, Rajbhandari et al. 2020, stage 3 or 2),
by PyTorch's FullyShardedDataParallel. With `use_orig_params` the parameters that the program's optimizer was made for
stay the objects that they are, and become views of this rank's piece."""

import contextlib
import functools
import inspect
import weakref

import torch

from steptune_pytorch.gradients import trained_by
from steptune_pytorch.knobs.averaging import Averaging
from steptune_pytorch.knobs.blocks import repeated_blocks, with_parameters_of_their_own
from steptune_pytorch.knobs.row import Row
from steptune_pytorch.knobs.shards import Shards

_SHARDING = "fsdp_sharding_strategy"
_PREFETCH = "fsdp_backward_prefetch"
_CHOICES = {
    _SHARDING: ["full_shard", "shard_grad_op", "no_shard"],
    _PREFETCH: ["backward_pre", "backward_post", "none"],
}
# Which treat each number by itself, so that a piece of a parameter is as good as all of it.
_BY_NUMBER = {"ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"}
_OTHERWISE = "use ddp or zero, or write FullyShardedDataParallel into the program and tune its options"


def why_not():
    """Why this PyTorch cannot shard a program from outside; None if it can."""
    try:
        from torch.distributed.fsdp import FullyShardedDataParallel

        if "use_orig_params" in inspect.signature(FullyShardedDataParallel.__init__).parameters:
            return None
        why = "its FullyShardedDataParallel has no use_orig_params"
    except Exception as error:
        why = str(error).split("\n")[0]
    if str(torch.__version__).startswith("1."):
        why = "that takes 2.0 or newer"
    what = "PyTorch %s cannot divide the parameters of an optimizer that is there already (%s): %s"
    return what % (torch.__version__, why, _OTHERWISE)


class FsdpArguments:
    def __init__(self, asked):
        self._values = {name: asked.get(name, choices[0]) for name, choices in _CHOICES.items()}

    def shards(self):
        return self._values[_SHARDING] != "no_shard"

    def named(self):
        from torch.distributed import fsdp

        prefetch = self._values[_PREFETCH]
        return {
            "sharding_strategy": fsdp.ShardingStrategy[self._values[_SHARDING].upper()],
            "backward_prefetch": None if prefetch == "none" else fsdp.BackwardPrefetch[prefetch.upper()],
        }

    def rows(self, why):
        for name, choices in _CHOICES.items():
            yield Row(name, value=None if why else self._values[name], why=why, choices=choices)


class Sharding(Averaging):
    """As Averaging, of the module that holds what the program's optimizers train, from its first forward on."""

    _is_divided = True

    def __init__(self, hook, give_up, gathering, arguments):
        super().__init__(hook, give_up, False, gathering)
        self._arguments = arguments
        self._parts = weakref.WeakSet()  # the module and those in it
        self._shards = None
        self._is_inside = False  # a call that FullyShardedDataParallel answers

    # -- forward and backward ---------------------------------------------------------------------

    def forward(self, original, module):
        self._refuse_part(module)
        self._equalise(module)
        if module not in self._called:
            self._called.append(module)
        self._buffers_differ = True
        return self._through_parallel(original, module)

    def evaluation(self, original, module):
        self._refuse_part(module)
        super().evaluation(original, module)
        if self._module is None and not torch.is_grad_enabled():
            return original
        return self._through_parallel(original, module)

    def _through_parallel(self, original, module):
        if self._module is None and self._is_trained(module):
            self._shard(module)
        if module is not self._module:
            return original
        self._check_what_is_trained()
        return lambda _, *inputs, **named: self._parallel(*inputs, **named)

    def _refuse_part(self, module):
        if module in self._parts and module is not self._module:
            self._give_up("the program calls a part of %s, %s, by itself" % (self._name(), type(module).__name__))

    def backward_begins(self):
        if self._module is None:
            self._give_up("no module was called before this backward that holds what an optimizer trains")
        super().backward_begins()

    def backward_ended(self):
        pass  # gradients are means over all ranks

    def scales_loss(self):
        if self._arguments.shards():
            self._give_up(
                "a GradScaler would skip steps on those ranks alone whose pieces of the gradients are not finite: "
                "train in bf16, without it"
            )

    # -- sharding ---------------------------------------------------------------------------------

    def _is_trained(self, module):
        own = {id(p) for p in module.parameters()}
        groups = [group for optimizer in self._hook.optimizers.alive for group in optimizer.param_groups]
        return any(id(p) in own for group in groups for p in group["params"])

    def _shard(self, module):
        self._module = module
        self._parameters = list(module.parameters())
        if self._hook.knobs.forward.compiles():
            self._give_up("%s is compiled: leave that out, or use ddp or zero" % self._name())
        self._check_module()
        self._check_optimizers()
        self._trained = self._what_is_trained()
        shapes = [p.shape for p in self._parameters]
        self._parallel = self._made_parallel()
        self._parts.update(self._parallel.modules())
        self._shards = Shards(self._parameters, shapes)
        for optimizer in self._hook.optimizers.alive:  # whose state was loaded from a checkpoint, say
            for parameter, state in optimizer.state.items():
                state.update(self._shards.divide(parameter, state))
        self._wrap_states()

    def _made_parallel(self):
        from torch.distributed.fsdp import FullyShardedDataParallel

        blocks = set(with_parameters_of_their_own(repeated_blocks(self._module), self._module))
        try:
            with self._hook.aside():
                return FullyShardedDataParallel(
                    self._module,
                    auto_wrap_policy=lambda module, recurse, **_: recurse or module in blocks,
                    device_id=self._parameters[0].device,
                    use_orig_params=True,
                    **self._arguments.named()
                )
        except Exception as error:
            why = str(error).split("\n")[0]
            self._give_up("FullyShardedDataParallel does not take %s (%s): %s" % (self._name(), why, _OTHERWISE))

    def _check_what_is_trained(self):
        trained = self._what_is_trained()
        if trained[0] != self._trained[0]:
            self._give_up("the program freezes or unfreezes parameters of %s after its first step" % self._name())
        if trained != self._trained:
            self._check_optimizers()
            self._trained = trained

    def _check_optimizers(self):
        super()._check_optimizers()
        # A wrapper may have been put around a step that a class of the program's own inherits.
        known = [inspect.unwrap(getattr(torch.optim, name).step) for name in _BY_NUMBER]
        for optimizer in self._hook.optimizers.alive if self._arguments.shards() else ():
            if inspect.unwrap(type(optimizer).step) not in known:
                self._give_up(
                    "%s may need whole parameters, of which each rank has a piece" % type(optimizer).__name__
                )

    def _name(self):
        return type(self._module).__name__

    # -- states -----------------------------------------------------------------------------------

    def _wrap_states(self):
        """What the program asks its own objects for is whole, as if they were not divided."""
        patches = self._hook.patches
        for name in ("state_dict", "load_state_dict"):
            patches.replace(torch.nn.Module, name, functools.partial(self._of_module, name))
        patches.replace(torch.nn.Module, "__reduce_ex__", self._wrap_reduce)
        patches.replace(torch.optim.Optimizer, "state_dict", self._wrap_state_dict)
        patches.replace(torch.optim.Optimizer, "load_state_dict", self._wrap_load_state_dict)

    def _of_module(self, name, original):
        def of_module(module, *arguments, **named):
            if not self._is_asked(module):
                return original(module, *arguments, **named)
            if module is not self._module:
                what = (name, self._name(), type(module).__name__)
                self._give_up("the program calls %s of a part of %s, %s: call it of the whole" % what)
            self._gather("the state of the model, which all ranks have a part of,")
            with self._inside():
                return getattr(self._parallel, name)(*arguments, **named)

        return of_module

    def _wrap_reduce(self, original):
        def __reduce_ex__(module, protocol):
            if self._is_asked(module):
                self._give_up("the program copies or pickles %s itself: use its state_dict()" % self._name())
            return original(module, protocol)

        return __reduce_ex__

    def _wrap_state_dict(self, original):
        def state_dict(optimizer, *arguments, **named):
            states = original(optimizer, *arguments, **named)
            if optimizer not in self._hook.optimizers.alive or not self._arguments.shards():
                return states
            self._gather("the state of the optimizer, which all ranks have a part of,")
            with self._hook.aside():
                return dict(states, state=self._shards.whole(list(trained_by([optimizer])), states["state"]))

        return state_dict

    def _wrap_load_state_dict(self, original):
        def load_state_dict(optimizer, state_dict, *arguments, **named):
            if optimizer in self._hook.optimizers.alive and self._arguments.shards():
                parameters = list(trained_by([optimizer]))
                order = [i for group in state_dict["param_groups"] for i in group["params"]]
                states = dict(state_dict["state"])
                for i, parameter in zip(order, parameters):
                    if i in states:
                        states[i] = self._shards.divide(parameter, states[i])
                state_dict = dict(state_dict, state=states)
            return original(optimizer, state_dict, *arguments, **named)

        return load_state_dict

    def clip(self, original, parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, **named):
        """As clip_grad_norm_, by the norm of what all ranks have."""
        parameters = [parameters] if torch.is_tensor(parameters) else list(parameters)
        clipped = {id(p) for p in parameters if p.requires_grad}
        own = {id(p) for p in self._parameters if p.requires_grad}
        if self._is_inside or self._parallel is None or not clipped & own:
            return original(parameters, max_norm, norm_type, error_if_nonfinite, **named)
        if clipped != own:
            self._give_up("the program clips the gradients of a part of %s: clip those of all" % self._name())
        with self._inside():
            norm = self._parallel.clip_grad_norm_(max_norm, norm_type)
        if error_if_nonfinite and not torch.isfinite(norm):
            raise RuntimeError("the norm of the gradients of all ranks is %s" % norm.item())
        return norm

    def _is_asked(self, module):
        return not self._is_inside and self._hook.active and module in self._parts

    def _gather(self, what):
        self._gathering.of_all(what, "ask for it on all ranks (torch.save writes on rank 0 alone), or use ddp")

    @contextlib.contextmanager
    def _inside(self):
        self._is_inside = True
        try:
            with self._hook.aside():
                yield
        finally:
            self._is_inside = False


def wrap_clipping(hook):
    def wrap(original):
        def clip_grad_norm_(parameters, max_norm, *arguments, **named):
            if not hook.watches():
                return original(parameters, max_norm, *arguments, **named)
            return hook.knobs.strategy.clip(original, parameters, max_norm, *arguments, **named)

        return clip_grad_norm_

    for owner in (torch.nn.utils.clip_grad, torch.nn.utils):
        hook.patches.replace(owner, "clip_grad_norm_", wrap)
