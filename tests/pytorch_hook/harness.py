# SPDX-License-Identifier: Apache-2.0
"""Runs the programs with and without the hook.

`run` forks this process, which has torch imported and has computed nothing: ten times faster than a
new interpreter. `run_fresh` starts one, and the hook comes in as it does for users.
"""

import atexit
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
import warnings

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # gloo warns with the time of day
import torch  # noqa: E402, F401, so that the forked children have it

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HOOK = os.path.join(ROOT, "trial_runner", "hooks", "pytorch")
REPORTER = os.path.join(ROOT, "trial_runner", "reporters")
_MARK = "[steptune] "


class Ran:
    def __init__(self, output, status):
        self.status = status
        self.output = output
        lines = output.splitlines()
        self.lines = [line for line in lines if not line.startswith(_MARK)]
        told = [json.loads(line[len(_MARK) :]) for line in lines if line.startswith(_MARK)]
        self.events = [document["hook"] for document in told if "hook" in document]
        self.reports = [document for document in told if "hook" not in document]
        self.steps = [report for report in self.reports if "step" in report]
        self.phases = [report for report in self.reports if "phase" in report]

    def event(self, name):
        """The last one of this name, or None."""
        return next((event for event in reversed(self.events) if event["event"] == name), None)

    def knob(self, name):
        return next(
            event
            for event in reversed(self.events)
            if event["event"] == "knob" and event["knob"] == name
        )

    def phases_ended(self, name):
        return [p for p in self.phases if p["phase"] == name and "seconds" in p]


def program(name):
    return os.path.join(HERE, "programs", name + ".py")


def settings(mode="report", **keys):
    return json.dumps(dict({"v": 1, "mode": mode}, **keys))


def run(name, *arguments, hook=None, prepare=None):
    """`hook`: what `settings` makes, or None to run without the hook. `prepare` is called in the
    process that runs the program, before it."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run_in_child(program(name), arguments, hook, prepare, output.fileno())
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return Ran(output.read().decode(), os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1)


def _run_in_child(path, arguments, hook, prepare, output):
    atexit._clear()  # what the test runner would clean up
    status = 1
    try:
        warnings.simplefilter("ignore", ResourceWarning)  # what the test runner holds open
        _ignore_warnings_about_forks()
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = [path] + list(arguments)
        sys.path[:0] = [os.path.dirname(path), REPORTER]
        os.environ.pop("STEPTUNE_TRIAL", None)
        if hook is not None:
            _enter(hook)
        if prepare is not None:
            prepare()
        runpy.run_path(path, run_name="__main__")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(status)


def _ignore_warnings_about_forks():
    """Python from 3.12 on prints the number of a process that has threads and forks: no output of
    one run equals that of another."""
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)


def _enter(hook):
    os.environ["STEPTUNE_PYTORCH"] = hook
    os.environ["STEPTUNE_TRIAL"] = "1"
    os.environ["PYTHONPATH"] = HOOK
    sys.path.append(HOOK)
    from steptune_pytorch import hook as entered

    entered.install()


def _leave(status):
    """Ends this child as an interpreter ends."""
    atexit._run_exitfuncs()
    gc.collect()  # ends the workers of loaders
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run_fresh(command, hook=None, path=(), environment=()):
    """`command` after the interpreter: its options, the program, arguments."""
    variables = dict(os.environ, **dict(environment))
    variables.pop("STEPTUNE_PYTORCH", None)
    variables.pop("PYTHONPATH", None)
    folders = ([HOOK] if hook is not None else []) + list(path)
    if folders:
        variables["PYTHONPATH"] = os.pathsep.join(folders)
    if hook is not None:
        variables["STEPTUNE_PYTORCH"] = hook
    ran = subprocess.run(
        [sys.executable, "-B"] + list(command),
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=100,
    )
    return Ran(ran.stdout.decode(), ran.returncode)

