# SPDX-License-Identifier: Apache-2.0
"""Runs the programs with and without the hook, in the interpreter that runs the tests."""

import functools
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HOOK = os.path.join(os.path.dirname(os.path.dirname(HERE)), "trial_runner", "hooks", "python")
_TOLD = re.compile(r"\[steptune\] (\{.*\})\n")
_MOST_S = 1200  # beside other load a start can take minutes


class Ran:
    def __init__(self, output, errors, status):
        self.output = output
        self.errors = errors
        self.status = status
        self.lines = _TOLD.sub("", output).splitlines()
        documents = [json.loads(document) for document in _TOLD.findall(output)]
        self.events = [document["hook"] for document in documents if "hook" in document]
        self.reports = [document for document in documents if "hook" not in document]
        self.steps = [report for report in self.reports if "step" in report]
        self.phases = [report for report in self.reports if "phase" in report]

    def event(self, name):
        """Returns the last event of this name, or None."""
        return next((event for event in reversed(self.events) if event["event"] == name), None)

    def knob(self, name):
        return next(
            event for event in reversed(self.events) if event["event"] == "knob" and event["knob"] == name
        )


def settings(mode="report", interval_s=0, **more):
    return dict({"v": 1, "mode": mode, "interval_s": interval_s}, **more)


def run(program, *arguments, hook=None, environment=None):
    """Runs a program of the folder `programs`. `hook`: the tuner's request; None: without the hook."""
    # Beside other load, threads of OpenMP that spin make a second's program take minutes.
    variables = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OMP_WAIT_POLICY="passive", **(environment or {}))
    for name in ("PYTHONPATH", "STEPTUNE_PYTHON"):
        variables.pop(name, None)
    if hook is not None:
        variables.update(PYTHONPATH=HOOK, STEPTUNE_PYTHON=json.dumps(hook))
    path = os.path.join(HERE, "programs", program + ".py")
    process = subprocess.run(
        [sys.executable, path, *arguments], env=variables, capture_output=True, text=True, timeout=_MOST_S
    )
    return Ran(process.stdout, process.stderr, process.returncode)


@functools.lru_cache(maxsize=None)
def untouched(program):
    """Returns a run without the hook."""
    return run(program)
