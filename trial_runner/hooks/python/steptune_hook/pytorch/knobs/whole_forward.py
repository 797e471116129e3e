# SPDX-License-Identifier: Apache-2.0
"""State that a forward changes in addition to its outputs. It is restored if the forward is called again."""

import weakref

import torch

from steptune_hook.pytorch import tensors
from steptune_hook.pytorch.knobs.random_state import RandomState, torch_sources, usual_sources

_HOLDERS = ("_parameters", "_buffers", "_modules")


class WholeForward:
    """Keeps the modules' attributes, buffers and random numbers. Other in-place changes (lists, tensors that are no
    buffers) are not undone."""

    def __init__(self, module):
        self._random = RandomState(usual_sources())
        is_on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._of_gpus = torch.cuda.get_rng_state_all() if is_on_gpu else []
        self._attributes = [(held, dict(held)) for owner in module.modules() for held in _held_by(owner)]
        self._buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def failed(self):
        self._random.restore()
        if self._of_gpus:
            torch.cuda.set_rng_state_all(self._of_gpus)
        for held, before in self._attributes:
            for name in [name for name in held if name not in before]:
                del held[name]
            held.update(before)
        for buffer, before in self._buffers:
            buffer.data.copy_(before)  # hidden from autograd, which may keep it for another forward
        torch.clear_autocast_cache()  # the cache may have weights that were converted without gradients

    def was_called_again(self):
        pass


def _held_by(owner):
    held = [owner.__dict__] + [getattr(owner, name, None) for name in _HOLDERS]
    return [attributes for attributes in held if isinstance(attributes, dict)]


class LaterForward:
    """State of a module whose forward may fail and be called again. Statistics of its buffers are then counted once,
    and the CPU's random numbers are drawn again. `parts`: the module's Parts. Remembers only versions, which is cheap
    enough for each forward."""

    def __init__(self, parts):
        self._random = RandomState(torch_sources())
        self._held = parts.buffers
        self._buffers = [buffer for attributes in self._held for buffer in attributes.values() if buffer is not None]
        self._versions = [tensors.writes(buffer) for buffer in self._buffers]
        self._counted = []

    def failed(self):
        self._random.restore()
        # Kernels write statistics without a new version, but the count of batches gets one.
        before = {id(buffer): version for buffer, version in zip(self._buffers, self._versions)}
        self._counted = [
            (held, name, buffer.detach().clone())
            for held in self._held
            if any(before.get(id(buffer)) != tensors.writes(buffer) for buffer in held.values() if buffer is not None)
            for name, buffer in held.items()
            if buffer is not None
        ]

    def was_called_again(self):
        for held, name, value in self._counted:
            held[name].data.copy_(value)


class Parts:
    """The parts of a module at one time. `buffers`: the dictionaries that contain the buffers of the module and of its
    submodules, by name."""

    def __init__(self, module):
        self.was_training = module.training
        modules = list(module.modules())
        self.buffers = [owner._buffers for owner in modules if owner._buffers]
        # Weak, since a part may refer to the module and keep it alive.
        self._holders = [weakref.ref(owner) for owner in modules if owner._modules]
        self._modules = self._now()

    def are_same(self):
        """True if the module still has the same submodules; a program may replace one."""
        return self._now() == self._modules

    def _now(self):
        return [
            weakref.ref(part)
            for owner in (holder() for holder in self._holders)
            if owner is not None
            for part in owner._modules.values()
            if part is not None
        ]
