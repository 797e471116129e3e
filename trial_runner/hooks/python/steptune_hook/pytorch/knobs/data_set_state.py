# SPDX-License-Identifier: Apache-2.0
"""Detects changes of a data set, since persistent workers do not see changes between passes."""

import zlib

import torch

from steptune_hook.pytorch import tensors

_MAX_DEPTH = 4
_MOST_ITEMS = 64  # of a container whose items are looked into
_MOST_BYTES = 1 << 24  # of an array
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def state_of(value, depth=0):
    """Returns equal values for equal states of a data set, including wrapped data sets and their contents. For large
    arrays, only the first bytes are compared: an array may be a memory-mapped file of many gigabytes."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, torch.Tensor):
        return id(value), tensors.writes(value)
    if isinstance(value, (list, tuple)):
        return id(value), _items(enumerate(value), len(value), depth)
    if isinstance(value, dict):
        return id(value), _items(value.items(), len(value), depth)
    if isinstance(value, (set, frozenset)):
        return id(value), hash(frozenset(map(id, value)))
    if hasattr(value, "__array_interface__"):
        return id(value), _checksum(value)
    attributes = getattr(value, "__dict__", None)
    if attributes and not isinstance(value, type):
        return id(value), _items(attributes.items(), len(attributes), depth)
    return id(value)


def _items(named, count, depth):
    """Returns the states of a few items, and only the identities of many."""
    if depth < _MAX_DEPTH and count <= _MOST_ITEMS:
        return tuple((name, state_of(item, depth + 1)) for name, item in named)
    return hash(tuple((name, id(item)) for name, item in named))


def _checksum(array):
    try:
        return zlib.crc32(memoryview(array).cast("B")[:_MOST_BYTES])
    except (TypeError, ValueError, BufferError):  # not contiguous
        return None
