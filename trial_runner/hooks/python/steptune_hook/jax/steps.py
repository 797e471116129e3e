# SPDX-License-Identifier: Apache-2.0
"""Finds out which compiled function is the step of the training, and counts its calls."""

import functools
import operator
import threading
from time import perf_counter

import jax

from steptune_hook.between_steps import BetweenSteps, Function

_MEASURED_CALLS = 3  # calls of one function that are waited for before the step is chosen
_LEAST_CARRIED = 0.3  # share of the numbers in a step's arguments that the step must return with the same shapes
_MOST_FUNCTIONS = 1000  # a program may compile a function anew for each step


class _Function(Function):
    def __init__(self, key):
        self.key = key  # keeps the stand-in alive, since its `id` identifies the function
        self.calls = 0
        self.seconds = 0.0  # of calls that were waited for, without compilations
        self.measured = 0
        self.carries = False  # True if it returns a state like its arguments
        self.batch = None  # index of the batch among the leaves of the arguments
        self.samples = 0  # of the last call that was waited for

    def samples_in(self, leaves):
        """Returns the leading dimension of the batch, summed over all devices."""
        if self.batch is None or self.batch >= len(leaves):
            return 0
        shape = getattr(leaves[self.batch], "shape", ())
        dimensions = shape[: 2 if self.key.is_mapped else 1]
        return int(functools.reduce(operator.mul, dimensions, 1)) if dimensions else 0


class Steps:
    """Watches the outermost calls of one thread. Calls within another call, and calls while JAX traces, do not count.
    """

    def __init__(self, hook):
        self._hook = hook
        self._thread = None
        self._depth = 0
        self._functions = {}
        self._step = None
        self._others = BetweenSteps(hook)
        self._last_output = None  # of the last step

    @property
    def name(self):
        return getattr(self._step.key, "__name__", "step") if self._step else ""

    def call(self, key, inner, arguments, named):
        leaves = None if self._depth or not self._hook.may_train() else jax.tree_util.tree_leaves((arguments, named))
        if leaves is None or not self._watches(leaves):
            return inner(*arguments, **named)
        self._depth += 1
        try:
            function = self._hook.guarded(self._begins, key)
            started_s = perf_counter()
            output = inner(*arguments, **named)
            if function is not None and self._hook.active:
                self._hook.guarded(self._ended, function, leaves, output, started_s)
            return output
        finally:
            self._depth -= 1

    def _watches(self, leaves):
        thread = threading.get_ident()
        if self._thread is None:
            self._thread = thread
        if thread != self._thread:
            return False
        return not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)

    def _begins(self, key):
        self._hook.training_begins()
        function = self._functions.get(id(key))
        if function is None and len(self._functions) < _MOST_FUNCTIONS:
            function = self._functions[id(key)] = _Function(key)
        if self._step is None or function is None:
            return function
        if function is self._step:
            self._others.step_begins()
        elif not function.carries:
            self._others.other_begins(function, self._step.calls, lambda: self._hook.waited_for(self._last_output))
        return function

    def _ended(self, function, leaves, output, started_s):
        function.calls += 1
        if self._step is None:
            self._measure(function, leaves, output, started_s)
        elif function is self._step:
            self._count(function.samples_in(leaves), output)
        else:
            self._others.other_ended(function)

    def _measure(self, function, leaves, output, started_s):
        """Waits for the call. A function's first call compiles it, so it does not count."""
        jax.block_until_ready(output)
        if function.calls == 1:
            function.carries, function.batch = _carried(leaves, output)
            return
        function.seconds += perf_counter() - started_s
        function.measured += 1
        function.samples = function.samples_in(leaves)
        if not function.carries or function.measured < _MEASURED_CALLS:
            return
        candidates = [other for other in self._functions.values() if other.carries and other.measured]
        self._step = max(candidates, key=lambda other: other.seconds)
        # Only the last call's output is known.
        for call in range(self._step.calls):
            is_last = call == self._step.calls - 1 and self._step is function
            self._count(self._step.samples, output if is_last else None, is_waited_for=True)
        for other in self._functions.values():
            other.usual = other.calls

    def _count(self, samples, output, is_waited_for=False):
        self._last_output = output
        self._hook.counted(samples, output, is_waited_for)


def _carried(leaves, output):
    """Returns a flag and the index of the batch. The flag is True if the output has many of the arguments' numbers with
    the same shapes. The batch is the largest other argument; its index is None if there is none."""
    returned = [_kind(leaf) for leaf in jax.tree_util.tree_leaves(output)]
    carried = 0
    largest = batch = None
    for index, leaf in enumerate(leaves):
        kind = _kind(leaf)
        if kind is None or not kind[0]:
            continue
        if kind in returned:
            returned.remove(kind)
            carried += leaf.size
        elif largest is None or leaf.size > largest.size:
            largest, batch = leaf, index
    total = carried + (0 if largest is None else largest.size)
    return carried >= _LEAST_CARRIED * total > 0, batch


def _kind(leaf):
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    return None if shape is None or dtype is None else (tuple(shape), str(dtype))


def loss_of(output):
    """Returns a function that reads the loss: the scalar whose name contains `loss`, otherwise the first scalar."""
    first = None
    for path, leaf in jax.tree_util.tree_flatten_with_path(output)[0]:
        kind = _kind(leaf)
        if kind is None or kind[0] or "float" not in kind[1]:
            continue
        if "loss" in jax.tree_util.keystr(path).lower():
            first = leaf
            break
        first = leaf if first is None else first
    return None if first is None else lambda: _number(first)


def _number(array):
    return None if is_deleted(array) else float(array)


def is_deleted(array):
    """True if the array's memory was given to another computation."""
    asks = getattr(array, "is_deleted", None)
    return asks is not None and asks()
