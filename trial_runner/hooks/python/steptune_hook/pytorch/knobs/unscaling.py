# SPDX-License-Identifier: Apache-2.0
"""Divides gradients of a scaled loss as they reach their parameters: before they are accumulated, before the program's
hooks, and before ranks average them. The factor is a power of two, so no bit changes."""

import weakref

import torch

_MOST_NODES = 100000


class Unscaling:
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
    """Returns the leaves that gradients of these roots reach, as far as nodes show."""
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
