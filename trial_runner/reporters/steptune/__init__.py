# SPDX-License-Identifier: Apache-2.0
"""Steptune in Python: reports of a training program, and tuning from scripts and notebooks.

A training program reports its progress to the tuner. This needs nothing but this folder:

    import steptune

    for batch in loader:
        ...  # one optimizer step
        steptune.report(samples=len(batch), loss=loss)

Scripts and notebooks tune programs and read results. This needs the program ``steptune``:

    study = steptune.tune("python3 train.py --epochs 90", time="10m")
    batch_size = steptune.best("train", default={"batch_size": 64})["batch_size"]

`import steptune` imports only the reporter, so that a trial starts quickly. Other modules are imported at first use.
"""

import importlib
import sys

from ._reporter import (
    Reporter,
    active,
    begin_phase,
    end_phase,
    flush,
    has_reported as _has_reported,
    metrics,
    part,
    phase,
    report,
    timed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import callbacks
    from ._command import Error, ProgramNotFound
    from ._study import Study, Trials, best, follow, judge, run, trials, tune

_MODULES = {
    "Error": "_command",
    "ProgramNotFound": "_command",
    "Study": "_study",
    "Trials": "_study",
    "best": "_study",
    "callbacks": None,
    "follow": "_study",
    "judge": "_study",
    "run": "_study",
    "trials": "_study",
    "tune": "_study",
}

__all__ = [
    "Error",
    "ProgramNotFound",
    "Reporter",
    "Study",
    "Trials",
    "active",
    "begin_phase",
    "best",
    "callbacks",
    "end_phase",
    "flush",
    "follow",
    "judge",
    "metrics",
    "part",
    "phase",
    "report",
    "run",
    "timed",
    "trials",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    module = importlib.import_module("." + (_MODULES[name] or name), __name__)
    value = module if _MODULES[name] is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_MODULES))


def _reports_steps() -> "bool | None":
    """Tells Steptune's hook if the program reports its own steps. Returns True if it does, or if it probably will.
    Returns None if the program has only used the functions for tuning so far. It may still report later.
    """
    if _has_reported() or "steptune._study" not in sys.modules or "steptune.callbacks" in sys.modules:
        return True
    return None
