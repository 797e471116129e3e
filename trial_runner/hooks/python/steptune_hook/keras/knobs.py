# SPDX-License-Identifier: Apache-2.0
"""Settings of Keras and TensorFlow. Threads and the dtype policy are set right after the modules are imported. Values
that the program sets later win."""

import functools
import os

from steptune_hook.keras.dataset_knobs import DatasetKnobs
from steptune_hook.keras.model_knobs import ModelKnobs, PyDatasetKnobs
from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.process_settings import ProcessSettings, Setting

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


class ThreadKnobs(ProcessSettings):
    """Threads of TensorFlow within an operation and between operations."""

    def __init__(self, requested, hook):
        self._hook = hook
        self._threading = None
        super().__init__(requested, {name: self._setting(name) for name in ("intra_op_threads", "inter_op_threads")})

    def _setting(self, name):
        return Setting(
            functools.partial(self._now, name), functools.partial(self._call, "set", name), self._why_unknown
        )

    def _call(self, way, knob, *arguments):
        return getattr(self._threading, "%s_%sism_threads" % (way, knob.replace("_threads", "_parallel")))(*arguments)

    def tensorflow_imported(self, tensorflow):
        self._threading = tensorflow.config.threading
        self.settle()

    def _now(self, knob):
        """Returns the number of threads. 0 means that TensorFlow chooses: as many as there are processors."""
        set_number = os.environ.get("TF_NUM_%sOP_THREADS" % knob.partition("_")[0].upper(), "")
        own = int(set_number) if set_number.isdigit() else 0
        return int(self._call("get", knob)) or own or len(os.sched_getaffinity(0))

    def _why_unknown(self):
        return _NOT_TENSORFLOW if self._threading is None else None

    def why_useless(self, name):
        return None if self._hook.backend() == "tensorflow" else _NOT_TENSORFLOW


class DtypePolicyKnob(ProcessSettings):
    def __init__(self, requested, hook):
        self._hook = hook
        self._keras = None
        setting = Setting(self._now, lambda value: self._keras.config.set_dtype_policy(value), self._why_unknown)
        super().__init__(requested, {"dtype_policy": setting})

    def keras_imported(self, keras):
        self._keras = keras
        self.settle()

    def _now(self):
        return str(self._keras.config.dtype_policy().name)

    def _why_unknown(self):
        return "the program does not use Keras" if self._keras is None else None

    def why_useless(self, name):
        if self._hook.device() == "cpu" and not _computes_bfloat16():
            return "this CPU emulates bfloat16, which is slower"
        return None

    def choices(self, name, today):
        choices = [today, "float32", "mixed_bfloat16"] + ["mixed_float16"] * (self._hook.device() == "cuda")
        return list(dict.fromkeys(choices))


def _computes_bfloat16():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            flags = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return False
    return any(flag in flags.split() for flag in _BFLOAT16_FLAGS)
