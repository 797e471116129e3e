# SPDX-License-Identifier: Apache-2.0
"""Whether a forward computes scaled_dot_product_attention by one of the kernels that there are to choose from."""

import torch

_KERNELS = "ScaledDotProduct"  # begins the names of their nodes
_MOST_NODES = 100000


def may_lead_to(losses):
    """By the graph that the losses' backward will go through. Of a node that is written in Python, or compiled, nobody
    knows what it stands for."""
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
