# SPDX-License-Identifier: Apache-2.0
"""The blocks that a model repeats: layers of a transformer, stages of a residual network."""

import collections

import torch

_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList)
_FEWEST_BLOCKS = 2


def repeated_blocks(root):
    """Returns each container's children whose class it holds several times. Leaves out blocks within blocks."""
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
