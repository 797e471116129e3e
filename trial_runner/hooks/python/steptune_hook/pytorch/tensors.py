# SPDX-License-Identifier: Apache-2.0
"""Finds tensors in a program's values: batches, inputs and outputs of modules."""

import collections.abc
import itertools

import torch

_MAX_DEPTH = 6
_MAX_DEPTH_OF_ATTRIBUTES = 3
_MOST_ITEMS = 8
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


def all_in(value):
    found = []
    converted(value, found.append)
    return found


def any_computed(value, depth=0):
    """True if one of the tensors was computed, so that a backward through it continues."""
    if isinstance(value, torch.Tensor):
        return value.grad_fn is not None
    if isinstance(value, collections.abc.Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return False
    return depth < _MAX_DEPTH and any(any_computed(item, depth + 1) for item in value)


def is_dense(tensor):
    """True if the tensor is neither sparse nor nested, so it has a shape and a memory format."""
    return tensor.layout == torch.strided and not tensor.is_nested


def writes(tensor):
    """Returns how often a tensor was written to. Returns None for tensors of inference mode, which do not count writes.
    """
    return None if tensor.is_inference() else tensor._version


def samples_in(batch):
    """Returns the first dimension of the first tensor, or the graphs of a PyTorch Geometric batch. Without a tensor:
    the length of a list, otherwise the first dimension of an array, or of the first array in an object. Returns 0 if
    unknown."""
    if type(batch) in _LISTS and batch and type(batch[0]) is torch.Tensor:
        tensor = batch[0]  # the usual batch
        return tensor.size(0) if tensor.dim() > 0 else 1
    try:
        graphs = getattr(batch, "num_graphs", None)
    except Exception:  # a dictionary whose attributes are its keys, for example
        graphs = None
    if isinstance(graphs, int):
        return graphs
    tensor = first_tensor(batch)
    if tensor is not None:
        return _first_dimension(tensor)
    return len(batch) if isinstance(batch, (list, tuple)) else _rows(batch)


def samples_in_inputs(inputs, named_inputs):
    if inputs and type(inputs[0]) is torch.Tensor:
        return samples_in(inputs)
    if first_tensor((inputs, named_inputs)) is not None:
        return samples_in((inputs, named_inputs))
    # The number of arguments is not a number of samples.
    return next(filter(None, map(samples_in, (*inputs, *named_inputs.values()))), 0)


def _first_dimension(tensor):
    # A nested tensor has no `shape`.
    return tensor.size(0) if tensor.dim() > 0 else 1


def _rows(value, depth=0):
    """Returns the first dimension of the first array or tensor, including those in attributes of objects; 0 if there is
    none."""
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
    return next(filter(None, (_rows(item, depth + 1) for item in itertools.islice(value, _MOST_ITEMS))), 0)


def _attributes(value):
    if hasattr(value, "__dict__"):
        return list(value.__dict__.values())
    names = getattr(type(value), "__slots__", ())
    return [getattr(value, name, None) for name in ([names] if isinstance(names, str) else names)]


def way_to_count(batch, expected):
    """Returns a function that counts the samples of batches like this one, which has `expected` samples (None:
    unknown). It counts the first dimension, unless only another count gives `expected`. Examples are lists of images of
    several sizes, images after all their boxes, tensors whose sequence comes first, and two rows for each sample (chosen
    and rejected answers)."""
    if expected is None or samples_in(batch) == expected:
        return samples_in
    holders = _holders(batch)
    if expected == 1 and len(holders) == 1 and holders[0] is batch and type(batch) is tuple and len(batch) == 1:
        return samples_in  # an item of one field, which the data set made as a batch
    for level in reversed(range(len(holders))):
        if len(holders[level]) == expected:
            return lambda other: _items_at(_holders(other), level, other)
    if isinstance(batch, collections.abc.Mapping):
        for name, field in batch.items():
            if first_tensor(field) is not None and samples_in(field) == expected:
                return lambda other: samples_in(other[name])
    tensor = first_tensor(batch)
    if tensor is not None and _second_of(tensor) == expected:
        return _second_dimension
    if tensor is None and _rows(batch) == expected:
        return _rows
    return _half if expected > 1 and samples_in(batch) == 2 * expected else samples_in


def _half(batch):
    return samples_in(batch) // 2


def _holders(value, depth=0):
    """Returns the lists and tuples around the first tensor, outermost first."""
    is_mapping = isinstance(value, collections.abc.Mapping)
    if not is_mapping and not isinstance(value, (list, tuple)):
        return []
    for item in list(value.values()) if is_mapping else value:
        if first_tensor(item, depth + 1) is not None:
            # A record's fields are not samples.
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
    # A nested tensor may have no single second dimension.
    return tensor.size(1) if tensor.dim() > 1 and not tensor.is_nested else None


def converted(value, convert, depth=0):
    """Returns `value` with each tensor converted. Containers that cannot be rebuilt stay unchanged."""
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
        except Exception:  # its constructor takes something other than its items
            return value
    return value
