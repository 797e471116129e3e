# SPDX-License-Identifier: Apache-2.0
"""Keeps, restores and compares the random numbers of the main process."""

import random
import sys

import torch


class RandomState:
    """State of the default generator, and of a loader's if it has one."""

    def __init__(self, generator):
        self._generators = [torch.default_generator] + ([generator] if generator else [])
        self._states = [generator.get_state() for generator in self._generators]

    def restore(self):
        for generator, state in zip(self._generators, self._states):
            generator.set_state(state)


class UsualRandomState(RandomState):
    """Also the state of Python's generator, and of NumPy's if it is imported."""

    def __init__(self, generator=None):
        super().__init__(generator)
        self._of_python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._of_numpy = numpy.random.get_state() if numpy is not None else None

    def restore(self):
        super().restore()
        random.setstate(self._of_python)
        if self._of_numpy is not None:
            sys.modules["numpy"].random.set_state(self._of_numpy)


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
