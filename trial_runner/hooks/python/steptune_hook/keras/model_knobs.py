# SPDX-License-Identifier: Apache-2.0
"""Settings of models (arguments of `compile`) and of PyDatasets (arguments of their constructors)."""

import random
import weakref

from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.knobs.settled import SettledKnobs

_STEPS = "steps_per_execution"
_JIT = "jit_compile"
_BATCH_METHODS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")


class ModelKnobs:
    def __init__(self, requested, hook):
        self._requested = requested
        self._hook = hook
        self._settled = SettledKnobs(requested)

    def settle(self, model, callbacks, is_fit):
        """Sets the requested values before a training."""
        for name, today, why in (
            (_STEPS, int(model.steps_per_execution), self._why_not_steps(model, callbacks, is_fit)),
            (_JIT, bool(model.jit_compile), self._why_not_jit(model)),
        ):
            wanted = self._requested.get(name)
            if why is None and wanted is not None and wanted != today:
                setattr(model, name, wanted)
                model.train_function = model.test_function = model.predict_function = None
            # A model that XLA cannot compile keeps its value.
            self._settled.note(KnobStatus(name, today=today, value=getattr(model, name), why=why))

    def _why_not_steps(self, model, callbacks, is_fit):
        if not is_fit:
            return "the program trains batch by batch"
        if model.run_eagerly:
            return "the program runs eagerly"
        own = _own_batch_callback(callbacks)
        return "the callback %s acts on each batch" % own if own else None

    def _why_not_jit(self, model):
        if self._hook.backend() != "tensorflow":
            return "tuned on the backend TensorFlow only"
        if model.run_eagerly:
            return "the program runs eagerly"
        return None

    def refuse(self, why):
        self._settled.refuse((_STEPS, _JIT), why)

    def statuses(self):
        return self._settled.statuses((name, "no model is trained by fit") for name in (_STEPS, _JIT))


def _own_batch_callback(callbacks):
    """Returns the class name of a callback that acts on batches; None if there is none."""
    if callbacks is None:
        return None
    members = getattr(callbacks, "callbacks", callbacks if isinstance(callbacks, (list, tuple)) else [callbacks])
    for callback in members:
        kind = type(callback)
        if getattr(callback, "save_freq", "epoch") != "epoch" or getattr(callback, "update_freq", "epoch") != "epoch":
            return kind.__name__
        for method in _BATCH_METHODS:
            owner = next((base for base in kind.__mro__ if method in base.__dict__), None)
            if owner is not None and not owner.__module__.startswith("keras."):
                return kind.__name__
        if kind.__name__ == "LambdaCallback" and any(method in vars(callback) for method in _BATCH_METHODS):
            return kind.__name__
    return None


class PyDatasetKnobs:
    """Workers that call `__getitem__` of a PyDataset. Batches keep their order."""

    _WORKERS = "data_workers"
    _PROCESSES = "data_processes"

    def __init__(self, requested, hook):
        self._hook = hook
        self._settled = SettledKnobs(requested)
        self._last_data = lambda: None

    def settle(self, data, steps_per_epoch):
        """Called with the training data of each `fit`, before Keras reads it."""
        is_settled = data is self._last_data()
        if is_settled or not all(hasattr(data, name) for name in ("workers", "use_multiprocessing", "__getitem__")):
            return
        self._last_data = weakref.ref(data)
        why = self._why_not(data, steps_per_epoch)
        for name, attribute, today in (
            (self._WORKERS, "workers", int(data.workers)),
            (self._PROCESSES, "use_multiprocessing", bool(data.use_multiprocessing)),
        ):
            value = self._settled.settle(name, today, why)
            if value is not None:
                setattr(data, attribute, value)

    def _why_not(self, data, steps_per_epoch):
        # If an epoch is not read to its end, Keras begins the next epoch with the batches that its workers have left
        # over. On backends other than TensorFlow, it reads the first batch twice, in order to build the model.
        if self._hook.backend() != "tensorflow":
            return "tuned on the backend TensorFlow only"
        return "fit has steps_per_epoch" if steps_per_epoch else _draws_random_numbers(data)

    def statuses(self):
        why = "the training data is no PyDataset"
        return self._settled.statuses((name, why) for name in (self._WORKERS, self._PROCESSES))


def _draws_random_numbers(data):
    """Returns why workers may draw other random numbers; None if no random generator is found. Loads one batch to find
    out."""
    import numpy

    generators = (random.Random, numpy.random.Generator, numpy.random.RandomState)
    if any(isinstance(value, generators) for value in vars(data).values()):
        return "the PyDataset has a generator of random numbers"
    python_state, numpy_state = random.getstate(), numpy.random.get_state()
    data[0]
    drew = random.getstate() != python_state or not _is_same(numpy.random.get_state(), numpy_state)
    random.setstate(python_state)
    numpy.random.set_state(numpy_state)
    return "the PyDataset draws random numbers" if drew else None


def _is_same(one, other):
    return all(
        (left == right).all() if hasattr(left, "shape") else left == right for left, right in zip(one, other)
    )
