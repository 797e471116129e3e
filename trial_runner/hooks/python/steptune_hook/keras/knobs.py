# SPDX-License-Identifier: Apache-2.0
"""Settings of Keras and TensorFlow. Threads and the dtype policy are set right after the modules are imported. Values
that the program sets later win."""

import os

from steptune_hook.events import first_line
from steptune_hook.keras.dataset_knobs import DatasetKnobs
from steptune_hook.keras.model_knobs import ModelKnobs, PyDatasetKnobs
from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.knob_status import KnobStatus

_NOT_TENSORFLOW = "the program does not compute with TensorFlow"
_NO_GPU = "there is no GPU"
# Flags of CPUs (x86 and Arm) that compute with bfloat16, as in tuner/knobs/guess_machine.cpp.
_BFLOAT16_FLAGS = ("avx512_bf16", "amx_bf16", "bf16", "svebf16")


class KerasKnobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self._hook = hook
        self.models = ModelKnobs(self.requested, hook)
        self.datasets_of_python = PyDatasetKnobs(self.requested, hook)
        self._threads = ThreadKnobs(self.requested, hook)
        self._policy = DtypePolicyKnob(self.requested, hook)
        self._datasets = DatasetKnobs(self.requested, hook)
        self.groups = (
            self.models,
            self.datasets_of_python,
            self._threads,
            self._policy,
            self._datasets,
            self.collector,
            EnvironmentKnobs(self.table, self._why_not_variable),
        )

    def tensorflow_imported(self, tensorflow):
        self._threads.tensorflow_imported(tensorflow)
        self._datasets.tensorflow_imported(tensorflow)

    def keras_imported(self, keras):
        self._policy.keras_imported(keras)

    def _why_not_variable(self, name):
        if name == "malloc":
            return None
        if self._hook.backend() != "tensorflow":
            return _NOT_TENSORFLOW
        return _NO_GPU if name.startswith("gpu_") and self._hook.device() != "cuda" else None


class ThreadKnobs:
    """Threads of TensorFlow within an operation and between operations."""

    _KNOBS = ("intra_op_threads", "inter_op_threads")

    def __init__(self, requested, hook):
        self._requested = {name: requested[name] for name in self._KNOBS if name in requested}
        self._hook = hook
        self._threading = None
        self._today = {}
        self._why = {}

    def _call(self, way, knob, *arguments):
        return getattr(self._threading, "%s_%sism_threads" % (way, knob.replace("_threads", "_parallel")))(*arguments)

    def tensorflow_imported(self, tensorflow):
        self._threading = tensorflow.config.threading
        for knob in self._KNOBS:
            self._today[knob] = self._now(knob)
        for knob, value in self._requested.items():
            try:
                self._call("set", knob, value)
            except (RuntimeError, ValueError) as error:
                self._why[knob] = first_line(error)

    def _now(self, knob):
        """Returns the number of threads. 0 means that TensorFlow chooses: as many as there are processors."""
        set_number = os.environ.get("TF_NUM_%sOP_THREADS" % knob.partition("_")[0].upper(), "")
        own = int(set_number) if set_number.isdigit() else 0
        return int(self._call("get", knob)) or own or len(os.sched_getaffinity(0))

    def statuses(self):
        for knob in self._KNOBS:
            if self._threading is None or self._hook.backend() != "tensorflow":
                yield KnobStatus(knob, why=_NOT_TENSORFLOW)
                continue
            now = self._now(knob)
            today = self._today[knob] if knob in self._requested else now
            yield KnobStatus(knob, today=today, value=now, why=self._why.get(knob))


class DtypePolicyKnob:
    _NAME = "dtype_policy"

    def __init__(self, requested, hook):
        self._requested = requested.get(self._NAME)
        self._hook = hook
        self._keras = None
        self._today = None
        self._why = None

    def keras_imported(self, keras):
        self._keras = keras
        self._today = self._now()
        if self._requested is None or self._requested == self._today:
            return
        try:
            keras.config.set_dtype_policy(self._requested)
        except Exception as error:
            self._why = first_line(error)

    def _now(self):
        return str(self._keras.config.dtype_policy().name)

    def statuses(self):
        if self._keras is None:
            yield KnobStatus(self._NAME, why="the program does not use Keras")
            return
        now = self._now()
        today = now if self._requested is None else self._today
        choices = [today] + [choice for choice in self._choices() if choice != today]
        yield KnobStatus(self._NAME, today=today, value=now, why=self._why or self._why_not(), choices=choices)

    def _choices(self):
        return ["float32", "mixed_bfloat16"] + ["mixed_float16"] * (self._hook.device() == "cuda")

    def _why_not(self):
        if self._hook.device() == "cpu" and not _computes_bfloat16():
            return "this CPU emulates bfloat16, which is slower"
        return None


def _computes_bfloat16():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            flags = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return False
    return any(flag in flags.split() for flag in _BFLOAT16_FLAGS)
