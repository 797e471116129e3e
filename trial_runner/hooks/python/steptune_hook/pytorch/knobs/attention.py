# SPDX-License-Identifier: Apache-2.0
"""Finds out whether a forward computes scaled_dot_product_attention by a kernel that can be chosen."""

import torch

_KERNELS = "ScaledDotProduct"  # prefix of the names of their nodes
_MOST_NODES = 100000


def may_lead_to(losses):
    """Follows the graph that the losses' backward will use. A node that is compiled or written in Python may contain
    attention, so it counts as attention."""
    waiting = [loss.grad_fn for loss in losses if isinstance(loss, torch.Tensor)]
    seen = {None}
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        is_known = not isinstance(node, torch.autograd.function.BackwardCFunction)
        if not is_known or node.name().startswith(_KERNELS) or len(seen) > _MOST_NODES:
            return True
        waiting.extend(before for before, _ in node.next_functions)
    return False
