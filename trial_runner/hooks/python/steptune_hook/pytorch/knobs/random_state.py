# SPDX-License-Identifier: Apache-2.0
"""Keeps, restores and compares the random numbers of the main process."""

import random
import sys

import torch


def torch_sources(*generators):
    """Returns how the default generator and these are read and set: (get, set) for each."""
    own = {id(g): g for g in (torch.default_generator, *generators) if isinstance(g, torch.Generator)}
    return [(generator.get_state, generator.set_state) for generator in own.values()]


def usual_sources(*generators):
    """Like `torch_sources`, but adds Python's generator, and NumPy's if it is imported."""
    sources = [*torch_sources(*generators), (random.getstate, random.setstate)]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        sources.append((numpy.random.get_state, numpy.random.set_state))
    return sources


class RandomState:
    def __init__(self, sources):
        self._states = [(put, get()) for get, put in sources]

    def restore(self):
        for put, state in self._states:
            put(state)


def snapshot():
    """Returns a value that shows whether anything was drawn from one of the usual generators."""
    numpy = sys.modules.get("numpy")
    drawn = numpy.random.get_state() if numpy is not None else ("", b"", 0)
    return (
        bytes(torch.default_generator.get_state().numpy()) if numpy else _torch_state(),
        random.getstate(),
        bytes(drawn[1]),
        drawn[2],
    )


def _torch_state():
    return tuple(torch.default_generator.get_state().tolist())
