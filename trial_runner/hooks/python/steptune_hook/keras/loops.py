# SPDX-License-Identifier: Apache-2.0
"""Steps of training loops in the program itself. A step is an eager update of an optimizer, or the updates in each call
of a `tf.function` that applies the optimizer."""

import weakref
from time import perf_counter

from steptune_hook.between_steps import BetweenSteps, Function
from steptune_hook.keras import batches
from steptune_hook.keras.turns import Turns
from steptune_hook.patches import calling

_CALLS_TO_KNOW = 3  # calls of a function after which its number of steps is known


class _Function(Function):
    """A `tf.function` that the program calls."""

    def __init__(self):
        # Steps of each optimizer that the function applies, as counted by the optimizer at the last call
        self.optimizers = {}
        self.calls = 0
        self.steps_of_call = 1


class Loops:
    def __init__(self, hook, tensorflow):
        self._hook = hook
        self._tensorflow = tensorflow
        self._functions = weakref.WeakKeyDictionary()
        self._call = None  # the outermost function that runs now
        self._is_applying = False
        self._turns = Turns()
        self._calls = 0
        self._others = BetweenSteps(hook)
        self._fetched = None  # samples in the last batch that a tf.data.Dataset has returned since the last step
        self._given = None  # samples of the first input of a model since the last step
        self._loss = None  # the last loss whose gradients were computed eagerly

    def call(self, original, key, arguments, named):
        if self._call is not None or not self._hook.counts_here():
            return original(key, *arguments, **named)
        function = self._hook.guarded(self._begins, key)
        if function is None:
            return original(key, *arguments, **named)
        self._call = function
        try:
            output = original(key, *arguments, **named)
        finally:
            self._call = None
        if self._hook.active:
            self._hook.guarded(self._ended, function, arguments, named, output)
        return output

    def _begins(self, key):
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = _Function()
        if function.optimizers:
            self._others.step_begins()
        else:
            self._others.other_begins(function, self._calls, perf_counter)
        return function

    def _ended(self, function, arguments, named, output):
        if not function.optimizers:
            self._others.other_ended(function)
            return
        self._calls += 1
        function.calls += 1
        given = self._tensorflow.nest.flatten((arguments, named))
        steps = 0
        for optimizer, before in list(function.optimizers.items()):
            if function.calls <= _CALLS_TO_KNOW or function.steps_of_call > 1:
                now = int(optimizer.iterations)
                if before is not None:
                    function.steps_of_call = max(0, now - before)
                function.optimizers[optimizer] = now
            steps += self._turns.new_steps(optimizer, function.steps_of_call)
        if steps:
            self._count(steps, self._samples_in(given, steps), self._loss_in(output))

    def _samples_in(self, given, steps):
        tensors = [value for value in given if hasattr(value, "dtype") and not hasattr(value, "assign_add")]
        samples = batches.rows_of_largest(tensors)
        if samples is not None:
            return samples
        for value in given:
            dataset = getattr(value, "_dataset", value)
            if hasattr(dataset, "element_spec"):
                return (batches.rows_of_dataset(dataset) or 0) * steps
        return self._fetched or 0

    def _loss_in(self, output):
        """Returns a function that reads the loss: the scalar whose name contains `loss`, otherwise the first scalar."""
        if isinstance(output, dict):
            loss = next((value for name, value in output.items() if "loss" in str(name) and _is_scalar(value)), None)
            if loss is not None:
                return lambda: float(loss)
        first = next((value for value in self._tensorflow.nest.flatten(output) if _is_scalar(value)), None)
        return None if first is None else lambda: float(first)

    def applied(self, original, optimizer, arguments, named):
        if self._is_applying or not self._hook.counts_here():
            return original(optimizer, *arguments, **named)
        self._is_applying = True
        try:
            result = original(optimizer, *arguments, **named)
        finally:
            self._is_applying = False
        self._hook.guarded(self._note, optimizer)
        return result

    def _note(self, optimizer):
        hook = self._hook
        if not hook.trains_alone():
            return
        hook.training_begins()
        hook.counts = "optimizer"
        name = type(optimizer).__name__
        if name not in hook.optimizers:
            hook.optimizers.add(name)
            hook.knobs.models.refuse("the program trains in a loop of its own")
            hook.survey_after_step()
        if self._tensorflow.inside_function():
            if self._call is not None:
                self._call.optimizers.setdefault(optimizer, None)
            return
        self._others.step_begins()
        steps = self._turns.new_steps(optimizer)
        if steps:
            loss = self._loss
            self._count(steps, self._fetched or self._given or 0, None if loss is None else lambda: float(loss))

    def _count(self, steps, samples, loss):
        self._fetched = self._given = self._loss = None
        self._hook.counted(samples, loss, steps)

    def fetched(self, batch):
        self._fetched = batches.rows_of_first(self._tensorflow.nest.flatten(batch))

    def given(self, arguments):
        if self._given is None and not self._tensorflow.inside_function():
            self._given = batches.rows_of_first(self._tensorflow.nest.flatten(arguments))

    def differentiated(self, target):
        if getattr(target, "shape", None) == () and not self._tensorflow.inside_function():
            self._loss = target


def _is_scalar(value):
    """True for a floating-point number."""
    dtype = getattr(value, "dtype", None)
    return getattr(value, "shape", None) == () and bool(getattr(dtype, "is_floating", False))


def wrap_functions(hook, tensorflow):
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    loops = hook.loops = Loops(hook, tensorflow)

    def wrap_next(original):
        def __next__(iterator):
            batch = original(iterator)
            if hook.counts_here():
                hook.guarded(loops.fetched, batch)
            return batch

        return __next__

    def wrap_gradient(original):
        def gradient(tape, target, *arguments, **named):
            if hook.counts_here():
                hook.guarded(loops.differentiated, target)
            return original(tape, target, *arguments, **named)

        return gradient

    hook.patches.replace(Function, "__call__", calling(loops.call))
    hook.patches.replace(OwnedIterator, "__next__", wrap_next)
    hook.patches.replace(tensorflow.GradientTape, "gradient", wrap_gradient)


def wrap_optimizers(hook, keras):
    from steptune_hook.keras.fits import owner_of

    def wrap_model(original):
        def __call__(model, *arguments, **named):
            if hook.counts_here():
                hook.guarded(hook.loops.given, arguments)
            return original(model, *arguments, **named)

        return __call__

    apply = calling(lambda *call: hook.loops.applied(*call))
    hook.patches.replace(owner_of(keras.optimizers.Optimizer, "apply"), "apply", apply)
    hook.patches.replace(keras.Model, "__call__", wrap_model)
