# SPDX-License-Identifier: Apache-2.0
"""Tensors in what programs hand around: batches, inputs and outputs of modules."""

import collections.abc

import torch

_MAX_DEPTH = 6
_LISTS = (list, tuple)


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
    if type(batch) in _LISTS and batch and type(batch[0]) is torch.Tensor:
        tensor = batch[0]  # as most batches are
        return tensor.shape[0] if tensor.dim() > 0 else 1
    graphs = getattr(batch, "num_graphs", None)
    if isinstance(graphs, int):
        return graphs
    tensor = first_tensor(batch)
    if tensor is not None:
        return tensor.shape[0] if tensor.dim() > 0 else 1
    return len(batch) if isinstance(batch, (list, tuple)) else 0


def way_to_count(batch, expected):
    """What counts the samples of batches that are made as this one, which should hold `expected` (None:
    not known). The first dimension, unless it is another number and something else is that one: lists
    of images of several sizes, sequences first."""
    if expected is None or samples_in(batch) == expected:
        return samples_in
    holders = _holders(batch)
    for level in reversed(range(len(holders))):
        if len(holders[level]) == expected:
            return lambda other: _items_at(_holders(other), level, other)
    tensor = first_tensor(batch)
    if tensor is not None and tensor.dim() > 1 and tensor.shape[1] == expected:
        return _second_dimension
    return samples_in


def _holders(value, depth=0):
    """Lists and tuples around the first tensor, from the outermost on."""
    is_mapping = isinstance(value, collections.abc.Mapping)
    if not is_mapping and not isinstance(value, (list, tuple)):
        return []
    for item in list(value.values()) if is_mapping else value:
        if first_tensor(item, depth + 1) is not None:
            # Fields of a record are no samples.
            own = [] if is_mapping or hasattr(value, "_make") else [value]
            return own + _holders(item, depth + 1)
    return []


def _items_at(holders, level, batch):
    return len(holders[level]) if level < len(holders) else samples_in(batch)


def _second_dimension(batch):
    tensor = first_tensor(batch)
    return tensor.shape[1] if tensor is not None and tensor.dim() > 1 else samples_in(batch)


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
