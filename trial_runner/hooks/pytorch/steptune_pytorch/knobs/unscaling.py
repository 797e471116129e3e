# SPDX-License-Identifier: Apache-2.0
"""Gradients of a scaled loss, divided as they reach their parameters: before they are added to what is there, before
hooks of the program and before ranks average them. Powers of two change no bit."""

import weakref

import torch

_MOST_NODES = 100000


class Unscaling:
    def __init__(self):
        self.inverse = None  # of the factor of the backward under way; None: none is scaled
        self._covered = {}  # by id, references to leaves and their hooks

    def covers(self, leaf):
        return id(leaf) in self._covered

    def cover(self, leaf):
        covered, key = self._covered, id(leaf)
        handle = leaf.register_hook(self._hook())
        hooks = leaf._backward_hooks
        others = {other: hooks.pop(other) for other in list(hooks) if other != handle.id}
        hooks.update(others)  # after it
        covered[key] = (weakref.ref(leaf, lambda _: covered.pop(key, None)), handle)

    def release(self):
        for _, handle in list(self._covered.values()):
            handle.remove()
        self._covered.clear()

    def _hook(self):
        # In the engine's own threads, too.
        @torch.utils.hooks.unserializable_hook
        def unscale(gradient):
            inverse = self.inverse
            return None if inverse is None else gradient * inverse

        return unscale


def leaves_of(roots):
    """That gradients of these reach; as far as nodes tell."""
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
