# SPDX-License-Identifier: Apache-2.0
"""Settings of `tf.data`: parallel calls of functions, batches that are prepared ahead, and threads. Elements keep their
order."""

import os
import sys

from steptune_hook.call_site import LIBRARIES
from steptune_hook.knobs.settled import SettledKnobs

_CALLS = "data_parallel_calls"
_PREFETCH = "data_prefetch"
_THREADS = "data_private_threads"
_AUTOTUNE = "data_autotune"
_SEQUENTIAL, _CPUS, _AUTO = "sequential", "cpus", "autotune"
# Operations that only read their state.
_HARMLESS = frozenset(
    ("Assert", "HashTableV2", "LookupTableFindV2", "LookupTableSizeV2", "ReadVariableOp", "VarHandleOp")
)
_NONE = "the program reads no tf.data.Dataset"
_MOST_DATASETS = 100  # transformations of one dataset


def _cpus():
    return len(os.sched_getaffinity(0))


class DatasetKnobs:
    def __init__(self, requested, hook):
        self._hook = hook
        self._tensorflow = None
        self._requested = requested
        self._settled = SettledKnobs(requested)
        self._is_ours = False

    def tensorflow_imported(self, tensorflow):
        from tensorflow.python.data.ops.dataset_ops import DatasetV2

        self._tensorflow = tensorflow
        self._hook.patches.replace(DatasetV2, "map", self._wrap_map)
        self._hook.patches.replace(DatasetV2, "__iter__", self._wrap_iter)

    def _wrap_map(self, original):
        def map_dataset(dataset, map_func, num_parallel_calls=None, deterministic=None, *more, **named):
            made = original(dataset, map_func, num_parallel_calls, deterministic, *more, **named)
            caller = sys._getframe(1).f_code.co_filename
            # Functions of Keras itself keep their settings.
            if not self._hook.active or any(mark in caller for mark in LIBRARIES):
                return made
            calls_and_order = self._hook.guarded(self._calls_for, made, num_parallel_calls)
            return made if calls_and_order is None else original(dataset, map_func, *calls_and_order, *more, **named)

        return map_dataset

    def _calls_for(self, made, own):
        """Returns `num_parallel_calls` and `deterministic` to set; None if the program's values stay."""
        # TensorFlow refuses a number of calls together with `synchronous`.
        why = "the program asks for synchronous calls" if getattr(made, "_force_synchronous", False) else None
        if own is None or own == 1:
            today = _SEQUENTIAL
        elif isinstance(own, int) and own == self._tensorflow.data.AUTOTUNE:
            today = _AUTO
        elif isinstance(own, int) and own >= _cpus():
            today = _CPUS
        else:
            today, why = _CPUS, "the program gives a number itself"
        value = self._settled.settle(_CALLS, today, why or _why_not_parallel(made))
        # For `sequential`, set None: even a single parallel call would run beside the training.
        settings = {_SEQUENTIAL: (None, None), _CPUS: (_cpus(), True), _AUTO: (self._tensorflow.data.AUTOTUNE, True)}
        return settings.get(value)

    def _wrap_iter(self, original):
        def __iter__(dataset):
            changed = None
            is_outermost = self._hook.active and not self._is_ours and not self._hook.pausing
            if is_outermost and self._tensorflow.executing_eagerly():
                self._is_ours = True
                try:
                    changed = self._hook.guarded(self._changed, dataset)
                finally:
                    self._is_ours = False
            return original(dataset if changed is None else changed)

        return __iter__

    def _changed(self, dataset):
        """Returns the dataset with the requested settings."""
        options = dataset.options()
        new = self._tensorflow.data.Options()
        # Keras itself limits the threads of data that its workers load.
        is_of_workers = self._hook.fits is not None and self._hook.fits.has_workers()
        own = None if is_of_workers else options.threading.private_threadpool_size
        # In TensorFlow, None means no separate thread pool. 0 means a pool with one thread for each CPU. Options cannot
        # be unset.
        threads = 0 if own is None else own or _cpus()
        why = None if own is None or self._requested.get(_THREADS) != 0 else "the program has separate threads itself"
        are_options_set = [
            self._option(_THREADS, threads, new.threading, "private_threadpool_size", why),
            self._option(_AUTOTUNE, options.autotune.enabled is not False, new.autotune, "enabled"),
        ]
        is_ahead = "_PrefetchDataset" in _last_kinds(dataset)
        why = "batches are prepared ahead already" if is_ahead else _why_not_ahead(dataset)
        if self._settled.settle(_PREFETCH, is_ahead, why):
            dataset = dataset.prefetch(self._tensorflow.data.AUTOTUNE)
        return dataset.with_options(new) if any(are_options_set) else dataset

    def _option(self, name, today, new, attribute, why=None):
        """Sets an option in `new` to the requested value, if that differs from today's value and nothing prevents it.
        Returns True if the option is set."""
        value = self._settled.settle(name, today, why)
        if value is not None:
            setattr(new, attribute, value)
        return value is not None

    def statuses(self):
        why_calls = _NONE if self._settled.is_empty() else "no function of the program maps a tf.data.Dataset"
        return self._settled.statuses(
            ((_CALLS, why_calls), (_PREFETCH, _NONE), (_THREADS, _NONE), (_AUTOTUNE, _NONE))
        )


def _chain(dataset):
    """Yields the dataset and the datasets from which it is made, the last transformation first."""
    waiting = [dataset]
    for _ in range(_MOST_DATASETS):
        if not waiting:
            return
        dataset = waiting.pop()
        yield dataset
        waiting.extend(dataset._inputs())


def _last_kinds(dataset):
    """Returns the class names of the last transformations. Stops after the first transformation that is neither an
    option nor a repetition."""
    kinds = []
    for one in _chain(dataset):
        kinds.append(type(one).__name__)
        if kinds[-1] not in ("_OptionsDataset", "_RepeatDataset"):
            break
    return kinds


def _why_not_ahead(dataset):
    for one in _chain(dataset):
        if "Generator" in type(one).__name__:
            return "a generator of the program makes its elements"
        why = _why_not_parallel(one)
        if why is not None:
            return why
    return None


def _why_not_parallel(dataset):
    """Returns why a dataset's function must not run in parallel calls or beside the training; None if it may."""
    function = getattr(getattr(dataset, "_map_func", None), "function", None)
    graph = getattr(function, "graph", None)
    if graph is None:
        return None
    operations = [operation for operation in graph.get_operations() if operation.op_def.is_stateful]
    stateful = {operation.type for operation in operations} - _HARMLESS
    for name in sorted(stateful):
        if "PyFunc" in name:
            return "its function calls Python"
        return "its function has the operation %s, which keeps a state" % name
    return None


