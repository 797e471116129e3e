# SPDX-License-Identifier: Apache-2.0
"""Scaled gradients of a loss: the factor, the gradients from which a backward starts (`grad_tensors`), and the division
that gives them back their true size."""

import weakref

import torch

_FIRST = 2.0**16
_STEPS_TO_GROW = 2000
# Powers of two. 32-bit numbers can be multiplied and divided by factors in this range.
_LEAST = 2.0**-100
_MOST = 2.0**100
_MOST_NODES = 100000


class ScaleFactor:
    """Factor that changes as in GradScaler, with the same defaults
    (https://pytorch.org/docs/stable/amp.html#torch.amp.GradScaler)."""

    def __init__(self):
        self.value = _FIRST
        self._good_steps = weakref.WeakKeyDictionary()  # number of good steps in a row, by optimizer
        # True if the factor was halved since the last backward. It is not halved again for other optimizers.
        self._was_halved = False

    def backward_begins(self):
        self._was_halved = False

    def stepped(self, optimizer, are_finite):
        """Called after a step. Each optimizer counts its own good steps, since a GradScaler is updated once for all
        optimizers."""
        if not are_finite:
            self._good_steps.clear()
            if not self._was_halved:
                self.value = max(self.value / 2, _LEAST)
                self._was_halved = True
            return
        steps = self._good_steps.get(optimizer, 0) + 1
        self._good_steps[optimizer] = steps
        if steps == _STEPS_TO_GROW:
            self._good_steps.clear()
            self.value = min(self.value * 2, _MOST)


def seeds(roots, given, factor):
    """Returns the `grad_tensors` to pass for `roots`: the `given` gradients times `factor`. A scalar root without a
    gradient gets `factor` itself. Arguments that PyTorch would refuse stay unchanged."""
    if isinstance(roots, torch.Tensor):
        return _scaled(roots, given, factor)
    given = [given] * len(roots) if given is None or isinstance(given, torch.Tensor) else list(given)
    return [_scaled(root, seed, factor) for root, seed in zip(roots, given)] if len(given) == len(roots) else given


def _scaled(root, given, factor):
    if isinstance(given, torch.Tensor):
        return given * factor
    if given is None and isinstance(root, torch.Tensor) and root.numel() == 1 and root.requires_grad:
        return torch.full_like(root, factor, requires_grad=False)
    return given


class Unscaling:
    """Divides gradients as they reach their parameters: before they are accumulated, before the program's hooks, and before
    ranks average them. The factor is a power of two, so no bit changes."""

    def __init__(self):
        self.inverse = None  # 1 / factor of the current backward; None: not scaled
        self._covered = {}  # references to leaves and their hooks, by id

    def covers(self, leaf):
        return id(leaf) in self._covered

    def cover(self, leaf):
        covered, key = self._covered, id(leaf)
        handle = leaf.register_hook(self._hook())
        hooks = leaf._backward_hooks
        others = {other: hooks.pop(other) for other in list(hooks) if other != handle.id}
        hooks.update(others)  # these run after it
        covered[key] = (weakref.ref(leaf, lambda _: covered.pop(key, None)), handle)

    def release(self):
        for _, handle in list(self._covered.values()):
            handle.remove()
        self._covered.clear()

    def _hook(self):
        # Also runs in the engine's own threads.
        @torch.utils.hooks.unserializable_hook
        def unscale(gradient):
            inverse = self.inverse
            return None if inverse is None else gradient * inverse

        return unscale


def leaves_of(roots):
    """Returns the leaves that gradients of these roots reach, if nodes show them."""
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set()
    leaves = [root for root in roots if root.grad_fn is None and root.requires_grad]
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, torch.Tensor):
            leaves.append(leaf)
        waiting.extend(before for before, _ in node.next_functions if before is not None)
    return leaves


class FiniteGradients:
    """Checks that gradients are finite. Computes one number per device, so each step waits only once for each GPU."""

    def __init__(self):
        self._ones = {}  # by device

    @torch.no_grad()
    def are_all(self, gradients):
        by_device = {}
        for gradient in gradients:
            held = gradient._values() if gradient.is_sparse else gradient
            by_device.setdefault(held.device, []).append(held)
        return all([self._count_bad(device, held) == 0.0 for device, held in by_device.items()])

    def _count_bad(self, device, gradients):
        found = torch.zeros(1, dtype=torch.float32, device=device)
        if device not in self._ones:
            self._ones[device] = torch.ones(1, dtype=torch.float32, device=device)
        try:
            # One kernel checks all gradients, as in GradScaler.
            torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, self._ones[device])
        except NotImplementedError:  # PyTorch 1 has no such kernel for a CPU
            return float(not all(bool(gradient.isfinite().all()) for gradient in gradients))
        return found.item()
