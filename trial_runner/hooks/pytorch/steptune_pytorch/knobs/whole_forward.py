# SPDX-License-Identifier: Apache-2.0
"""What a forward changes beside its outputs, to be put back where it is called again."""

import weakref

import torch

from steptune_pytorch.knobs.random_state import RandomState, UsualRandomState

_HOLDERS = ("_parameters", "_buffers", "_modules")


class WholeForward:
    """Attributes of the modules, their buffers and random numbers. What the model changes in place elsewhere,
    lists and tensors that are no buffers, stays changed."""

    def __init__(self, module):
        self._random = UsualRandomState()
        is_on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._of_gpus = torch.cuda.get_rng_state_all() if is_on_gpu else []
        self._attributes = [(held, dict(held)) for owner in module.modules() for held in _held_by(owner)]
        self._buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def failed(self):
        """Nothing of it counts."""
        self._random.restore()
        if self._of_gpus:
            torch.cuda.set_rng_state_all(self._of_gpus)
        for held, before in self._attributes:
            for name in [name for name in held if name not in before]:
                del held[name]
            held.update(before)
        for buffer, before in self._buffers:
            buffer.data.copy_(before)  # unseen by autograd, which may have kept it for another forward
        torch.clear_autocast_cache()  # weights that were converted without gradients would have none

    def was_called_again(self):
        pass


def _held_by(owner):
    held = [owner.__dict__] + [getattr(owner, name, None) for name in _HOLDERS]
    return [attributes for attributes in held if isinstance(attributes, dict)]


class LaterForward:
    """Of a module whose forward may fail and be called again: what its buffers have counted by then stays counted once,
    and random numbers of the CPU are drawn again. `parts`: its Parts. Remembers no more than versions: cheap enough
    for each forward."""

    def __init__(self, parts):
        self._random = RandomState(None)
        self._held = parts.buffers
        self._buffers = [buffer for attributes in self._held for buffer in attributes.values() if buffer is not None]
        self._versions = [buffer._version for buffer in self._buffers]
        self._counted = []

    def failed(self):
        self._random.restore()
        # Kernels write statistics without a new version of them, but not their number.
        before = {id(buffer): version for buffer, version in zip(self._buffers, self._versions)}
        self._counted = [
            (held, name, buffer.detach().clone())
            for held in self._held
            if any(before.get(id(buffer)) != buffer._version for buffer in held.values() if buffer is not None)
            for name, buffer in held.items()
            if buffer is not None
        ]

    def was_called_again(self):
        for held, name, value in self._counted:
            held[name].data.copy_(value)


class Parts:
    """A module as it is now. `buffers`: where it and the modules in it hold theirs, by name."""

    def __init__(self, module):
        self.was_training = module.training
        modules = list(module.modules())
        self.buffers = [owner._buffers for owner in modules if owner._buffers]
        # A part may lead back to the module, which would never go.
        self._holders = [weakref.ref(owner) for owner in modules if owner._modules]
        self._modules = self._now()

    def are_same(self):
        """Whether it consists of the same modules: a program may put another one in."""
        return self._now() == self._modules

    def _now(self):
        return [
            weakref.ref(part)
            for owner in (holder() for holder in self._holders)
            if owner is not None
            for part in owner._modules.values()
            if part is not None
        ]
