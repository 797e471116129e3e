# SPDX-License-Identifier: Apache-2.0
"""Replaces attributes of other modules and classes, and restores them."""

import functools
import types

_ABSENT = object()


class PickledByValue:
    """Base of objects that a replaced method refers to. Some libraries (mlflow, ray) use cloudpickle, which pickles the
    classes of `__main__` with their methods. In a pickle, a stand-in with the same attributes replaces the object. The
    method can then be loaded without the hook and calls the original."""

    _attributes_of_stand_in = {}

    def __reduce__(self):
        return types.SimpleNamespace, (), dict(self._attributes_of_stand_in)


def calling(call):
    """Returns a function for `Patches.replace`. The replaced method calls `call(original, self, arguments, named)`."""

    def make(original):
        def method(self, *arguments, **named):
            return call(original, self, arguments, named)

        return method

    return make


class Patches:
    def __init__(self):
        self._replaced = []

    def replace(self, owner, name, make):
        """Replaces owner.name by make(original), and returns the original. `owner` is a module or a class. It must not
        be an instance, because attributes of instances are pickled."""
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
        """Restores one attribute, unless somebody else has replaced it since."""
        for index in reversed(range(len(self._replaced))):
            if self._replaced[index][:2] == (owner, name):
                self._put_back(*self._replaced.pop(index))

    def keep(self, owner, name):
        """Makes a replacement permanent."""
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
