# SPDX-License-Identifier: Apache-2.0
"""Tensors in what programs hand around: batches, inputs and outputs of modules."""

import collections.abc
import itertools

import torch

_MAX_DEPTH = 6
_MAX_DEPTH_OF_ATTRIBUTES = 3
_FEW = 8
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


def any_computed(value, depth=0):
    """True if a backward through one of the tensors reaches what computed it."""
    if isinstance(value, torch.Tensor):
        return value.grad_fn is not None
    if isinstance(value, collections.abc.Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return False
    return depth < _MAX_DEPTH and any(any_computed(item, depth + 1) for item in value)


def is_dense(tensor):
    """Neither sparse nor nested: one that has a shape and a memory format."""
    return tensor.layout == torch.strided and not getattr(tensor, "is_nested", False)


def samples_in(batch):
    """First dimension of the first tensor; graphs of a PyTorch Geometric batch. Without a tensor: the length of a list,
    else the first dimension of an array, or of the first one that an object has. 0 if unknown."""
    if type(batch) in _LISTS and batch and type(batch[0]) is torch.Tensor:
        tensor = batch[0]  # as most batches are
        return tensor.size(0) if tensor.dim() > 0 else 1
    try:
        graphs = getattr(batch, "num_graphs", None)
    except Exception:  # of a dictionary whose attributes are its keys, say
        graphs = None
    if isinstance(graphs, int):
        return graphs
    tensor = first_tensor(batch)
    if tensor is not None:
        return _first_dimension(tensor)
    return len(batch) if isinstance(batch, (list, tuple)) else _rows(batch)


def samples_in_inputs(inputs, named_inputs):
    """Likewise of what a forward is given."""
    if inputs and type(inputs[0]) is torch.Tensor:
        return samples_in(inputs)
    if first_tensor((inputs, named_inputs)) is not None:
        return samples_in((inputs, named_inputs))
    # How many arguments there are says nothing.
    return next(filter(None, map(samples_in, (*inputs, *named_inputs.values()))), 0)


def _first_dimension(tensor):
    # A nested one has no `shape`.
    return tensor.size(0) if tensor.dim() > 0 else 1


def _rows(value, depth=0):
    """Of the first array or tensor in it, attributes of objects included; 0 if there is none."""
    if isinstance(value, torch.Tensor):
        return _first_dimension(value)
    if isinstance(value, (str, bytes, int, float, type, torch.nn.Module)):
        return 0
    shape = getattr(value, "shape", None) if hasattr(type(value), "shape") else None
    if isinstance(shape, tuple):
        return shape[0] if shape else 1
    if depth == _MAX_DEPTH_OF_ATTRIBUTES:
        return 0
    if isinstance(value, collections.abc.Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        value = _attributes(value)
    return next(filter(None, (_rows(item, depth + 1) for item in itertools.islice(value, _FEW))), 0)


def _attributes(value):
    if hasattr(value, "__dict__"):
        return list(value.__dict__.values())
    names = getattr(type(value), "__slots__", ())
    return [getattr(value, name, None) for name in ([names] if isinstance(names, str) else names)]


def way_to_count(batch, expected):
    """What counts the samples of batches that are made as this one, which should hold `expected` (None:
    not known). The first dimension, unless it is another number and something else is that one: lists
    of images of several sizes, sequences first."""
    if expected is None or samples_in(batch) == expected:
        return samples_in
    holders = _holders(batch)
    if expected == 1 and len(holders) == 1 and holders[0] is batch and type(batch) is tuple and len(batch) == 1:
        return samples_in  # an item of one field, which the data set made as a batch
    for level in reversed(range(len(holders))):
        if len(holders[level]) == expected:
            return lambda other: _items_at(_holders(other), level, other)
    tensor = first_tensor(batch)
    if tensor is not None and _second_of(tensor) == expected:
        return _second_dimension
    return _rows if tensor is None and _rows(batch) == expected else samples_in


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
    second = None if tensor is None else _second_of(tensor)
    return samples_in(batch) if second is None else second


def _second_of(tensor):
    # Of a nested tensor it may have no one number.
    return tensor.size(1) if tensor.dim() > 1 and not getattr(tensor, "is_nested", False) else None


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
