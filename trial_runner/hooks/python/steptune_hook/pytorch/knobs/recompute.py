# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: repeated blocks of the outermost modules keep only their inputs, and the backward
recomputes the rest. If the program uses checkpoints itself, the hook can turn them off."""

import collections
import contextlib
import inspect
import weakref

import torch
import torch.utils.checkpoint

from steptune_hook import call_site
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.part_clock import BACKWARD
from steptune_hook.pytorch import tensors
from steptune_hook.pytorch.modules import is_sharded

_NAME = "activation_checkpointing"
# Their outputs do not depend on the statistics that they count in training.
_COUNTERS = torch.nn.modules.batchnorm._NormBase
_WHY_KEPT = "no input of a reentrant checkpoint needs a gradient: without the checkpoint, the block would train"
_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList)
_FEWEST_BLOCKS = 2
_PLAIN = (torch.Tensor, str, bytes, int, float, complex, torch.dtype, torch.device, type(None))


class RecomputeKnob:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = requested.get(_NAME)
        self._seen = weakref.WeakSet()  # outermost modules
        self._blocks = weakref.WeakKeyDictionary()  # True if the first forward has shown that the block can be repeated
        self._classes = set()
        self._is_repeated = False
        self._by_program = []
        self._refused = None
        self._checkpoint = None
        self._options = set()  # names of the checkpoint's own arguments

    def wrap(self):
        patches = self._hook.patches
        parameters = inspect.signature(torch.utils.checkpoint.checkpoint).parameters
        self._options = {"preserve_rng_state", *(name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY)}
        self._checkpoint = patches.replace(torch.utils.checkpoint, "checkpoint", self._wrap_own)

    def _wrap_own(self, original):
        hook = self._hook

        def checkpoint(*arguments, **named):
            if not self._by_program and hook.watches():
                self._by_program.append(call_site.where() + " checkpoint")
            if self._requested is False and hook.active and self._leaves_out(arguments, named):
                function, *inputs = arguments
                return function(*inputs, **{name: named[name] for name in named if name not in self._options})
            return original(*arguments, **named)

        return checkpoint

    def _leaves_out(self, arguments, named):
        is_reentrant = named.get("use_reentrant") is not False and torch.is_grad_enabled()
        if self._refused is None and is_reentrant and not any(map(_needs_gradient, arguments)):
            self._refused = _WHY_KEPT
            self._hook.survey_after_step()
        return self._refused is None and bool(arguments)

    def prepare(self, module):
        if module in self._seen:
            return
        self._seen.add(module)
        blocks = _repeated_blocks(module)
        self._is_repeated = self._is_repeated or bool(blocks)
        if self._requested is not True or self._why_not() is not None:
            return
        self._refused = _why_no_block(module, blocks)
        for block in blocks if self._refused is None else ():
            self._blocks[block] = False
            if type(block) not in self._classes:
                self._classes.add(type(block))
                self._hook.patches.replace(type(block), "forward", self._wrap_forward)

    def _wrap_forward(self, original):
        def forward(block, *inputs, **named):
            if not self._recomputes(block):
                return original(block, *inputs, **named)
            if not all(map(_is_plain, (*inputs, *named.values()))):
                self._refused = "%s is given an object that it may change" % type(block).__name__
                return original(block, *inputs, **named)
            return self._checkpointed(original, block, inputs, named)

        return forward

    def _recomputes(self, block):
        hook = self._hook
        return (
            block in self._blocks
            and torch.is_grad_enabled()
            and hook.watches()
            and hook.clock.current != BACKWARD
            and self._why_not() is None
        )

    def _checkpointed(self, original, block, inputs, named):
        first = True
        buffers = None
        try:
            # The block's first forward shows whether it leaves its inputs and buffers unchanged.
            found = None if self._blocks[block] else _Found(block, inputs, named)
            given = tensors.all_in((inputs, named))
            versions = _versions(given)
            # Empty tensors name the devices whose random numbers are drawn again. PyTorch 2.6 would otherwise keep and
            # guard all arguments.
            devices = [torch.empty(0, device=device) for device in {tensor.device for tensor in given}]
        except Exception as error:
            self._hook.failed(error)
            return original(block, *inputs, **named)

        def compute(*_):
            nonlocal first
            if first:
                first = False
                return original(block, *inputs, **named)
            if versions is not None and _versions(given) != versions:
                # Recomputing from changed inputs would give wrong gradients.
                raise RuntimeError(
                    "steptune: an input of %s was written to after its forward: leave %s out"
                    % (type(block).__name__, _NAME)
                )
            with _buffers_in_place(block, buffers):
                return original(block, *inputs, **named)

        outputs = self._checkpoint(compute, *devices, use_reentrant=False)
        if found is not None:
            self._blocks[block] = True
            why = found.why_not_again()
            if why is not None:
                self._refused = "%s %s" % (type(block).__name__, why)
                inputs, named, buffers, versions = found.inputs, found.named, found.buffers, None
        return outputs

    def _why_not(self):
        if self._refused is not None:
            return self._refused
        if self._by_program:
            return "the program does it itself"
        if self._hook.knobs.forward.compiles():
            return "the model is compiled"
        return None

    def statuses(self):
        if self._by_program:
            value = self._requested is not False or self._refused is not None
            yield KnobStatus(_NAME, True, value, self._refused, where=self._by_program)
            return
        why = self._why_not()
        if why is None and not self._is_repeated:
            why = "no nn.Sequential or nn.ModuleList of the model contains two blocks of the same class"
        value = None if why else self._requested
        yield KnobStatus(_NAME, False, value, why, where=self._hook.modules.calls)


class _Found:
    """State of a block's inputs and buffers before its first forward, to compare with the state after it."""

    def __init__(self, block, inputs, named):
        self._tensors = tensors.all_in((inputs, named))
        self._versions = _versions(self._tensors)
        self._block = block
        self._buffer_versions = _buffer_versions(block)
        self.inputs, self.named = tensors.converted((inputs, named), _copy)
        self.buffers = _copies_of_buffers(block)

    def why_not_again(self):
        if _versions(self._tensors) != self._versions:
            return "writes into its inputs"
        if _buffer_versions(self._block) != self._buffer_versions:
            return "computes with buffers that it changes"
        return None


def _repeated_blocks(root):
    """Returns the blocks: children of a container that has several children of their class. Leaves out blocks within
    blocks."""
    blocks = []
    inside = set()
    for container in root.modules():
        if container in inside or not isinstance(container, _CONTAINERS):
            continue
        children = [child for child in container.children() if _is_block(child)]
        counts = collections.Counter(type(child) for child in children)
        for child in children:
            if counts[type(child)] >= _FEWEST_BLOCKS:
                blocks.append(child)
                inside.update(child.modules())
    return blocks


def _is_block(module):
    """True if the module has children. A single layer keeps little more than its input."""
    has_parts = next(module.children(), None) is not None
    return has_parts and any(parameter.requires_grad for parameter in module.parameters())


def _needs_gradient(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


def _is_plain(value):
    """True if a block cannot change the value unseen. It could change a cache or a growing list, for example."""
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))


def _versions(of):
    return [tensors.writes(tensor) for tensor in of]


def _copy(tensor):
    # Return no leaf, since a block may write into the tensor.
    return tensor.detach().requires_grad_(tensor.requires_grad).clone()


def _buffer_versions(block):
    return [
        (id(buffer), tensors.writes(buffer))
        for module in block.modules()
        if not isinstance(module, _COUNTERS)
        for buffer in module._buffers.values()
        if buffer is not None
    ]


def _copies_of_buffers(block):
    return [
        (module, name, buffer.clone())
        for module in block.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]


@contextlib.contextmanager
def _buffers_in_place(block, copies):
    """Replaces buffers by copies, since the first forward has already updated the statistics."""
    own = [(module, dict(module._buffers)) for module in block.modules() if module._buffers]
    for module, name, copy in _copies_of_buffers(block) if copies is None else copies:
        module._buffers[name] = copy
    try:
        yield
    finally:
        for module, buffers in own:
            module._buffers.update(buffers)


def _why_no_block(root, blocks):
    if is_sharded(root):
        return "the model is sharded"
    if any(isinstance(module, torch.nn.DataParallel) for module in root.modules()):
        return "the model is replicated (DataParallel)"
    for block in blocks:
        name = type(block).__name__
        for module in block.modules():
            if isinstance(module, torch.nn.SyncBatchNorm):
                return "%s has a SyncBatchNorm, whose ranks would communicate again" % name
            if isinstance(module, torch.jit.ScriptModule):
                return "%s is scripted" % name
    return None
