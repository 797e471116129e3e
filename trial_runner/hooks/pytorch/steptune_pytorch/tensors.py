# SPDX-License-Identifier: Apache-2.0
"""Tensors in what programs hand around: batches, inputs and outputs of modules."""

import collections.abc

import torch

_MAX_DEPTH = 6


def first_tensor(value, depth=0):
    if isinstance(value, torch.Tensor):
        return value
    if depth >= _MAX_DEPTH or value is None or isinstance(value, (str, bytes, int, float)):
        return None
    if isinstance(value, collections.abc.Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            tensor = first_tensor(item, depth + 1)
            if tensor is not None:
                return tensor
    return None


def samples_in(batch):
    """First dimension of the first tensor; graphs of a PyTorch Geometric batch; 0 if unknown."""
    graphs = getattr(batch, "num_graphs", None)
    if isinstance(graphs, int):
        return graphs
    tensor = first_tensor(batch)
    if tensor is not None:
        return tensor.shape[0] if tensor.dim() > 0 else 1
    return len(batch) if isinstance(batch, (list, tuple)) else 0


def converted(value, convert, depth=0):
    """`value` with each tensor in it converted; containers that it cannot rebuild stay as they are."""
    if isinstance(value, torch.Tensor):
        return convert(value)
    if depth >= _MAX_DEPTH:
        return value
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(converted(item, convert, depth + 1) for item in value)
    if type(value) in (list, tuple):
        return type(value)(converted(item, convert, depth + 1) for item in value)
    if isinstance(value, collections.abc.Mapping):
        items = {name: converted(item, convert, depth + 1) for name, item in value.items()}
        if type(value) is dict:
            return items
        try:
            return type(value)(items)
        except Exception:  # made from something else than its items
            return value
    return value
