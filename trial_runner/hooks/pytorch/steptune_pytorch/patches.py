# SPDX-License-Identifier: Apache-2.0
"""Attributes of other modules' classes that the hook replaces, and their way back."""

import functools
import types

_ABSENT = object()


class PickledByValue:
    """What a replaced method refers to. Some pickle the classes of `__main__` with their methods (cloudpickle: mlflow,
    ray): there a stand-in with these attributes takes its place, which makes the method call the original wherever it
    is loaded, without the hook."""

    _attributes_of_stand_in = {}

    def __reduce__(self):
        return types.SimpleNamespace, (), dict(self._attributes_of_stand_in)


class Patches:
    def __init__(self):
        self._replaced = []

    def replace(self, owner, name, make):
        """Puts make(original) in the place of owner.name; returns the original. `owner` is a module
        or a class, never an instance: what hangs on an instance is pickled with it."""
        own = owner.__dict__.get(name, _ABSENT)
        original = getattr(owner, name)
        replacement = functools.wraps(original)(make(original))
        replacement.steptune = True
        setattr(owner, name, replacement)
        self._replaced.append((owner, name, own, replacement))
        return original

    def is_replaced(self, owner, name):
        return getattr(getattr(owner, name, None), "steptune", False)

    def restore(self, owner, name):
        """Takes one back, unless somebody has replaced ours since."""
        for index in reversed(range(len(self._replaced))):
            if self._replaced[index][:2] == (owner, name):
                self._put_back(*self._replaced.pop(index))

    def keep(self, owner, name):
        """This one stays, whatever happens."""
        self._replaced = [entry for entry in self._replaced if entry[:2] != (owner, name)]

    def restore_all(self):
        while self._replaced:
            self._put_back(*self._replaced.pop())

    @staticmethod
    def _put_back(owner, name, own, replacement):
        if owner.__dict__.get(name) is not replacement:
            return
        if own is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
