# SPDX-License-Identifier: Apache-2.0
"""Callbacks of training frameworks that report to Steptune. A framework is imported when its callback is first used.

    transformers.Trainer(..., callbacks=[steptune.callbacks.Transformers()])
    lightning.Trainer(..., callbacks=[steptune.callbacks.Lightning()])
    model.fit(..., callbacks=[steptune.callbacks.Keras(batch_size)])

Outside a tuner the callbacks do nothing. If you use a callback, do not call `steptune.report` as well.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._keras import Keras
    from ._lightning import Lightning
    from ._transformers import Transformers

_MODULES = {"Keras": "_keras", "Lightning": "_lightning", "Transformers": "_transformers"}

__all__ = ["Keras", "Lightning", "Transformers"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    value = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_MODULES))
