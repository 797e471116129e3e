# SPDX-License-Identifier: Apache-2.0
"""Runs the programs with and without the hook.

`run` forks this process, which has imported torch and computed nothing. That is twenty times faster than a new
interpreter. `run_fresh` starts a new interpreter, and the hook is installed as for users.
"""

import atexit
import faulthandler
import gc
import hashlib
import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # gloo warns with the time of day
import torch  # noqa: E402, F401, so that the forked children have it

gc.freeze()  # excludes imported objects from the collection at the end of each child
# Here the children keep the compiled hook, and outputs of untouched programs.
_kept = tempfile.TemporaryDirectory()
sys.pycache_prefix = _kept.name
sys.dont_write_bytecode = False

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HOOK = os.path.join(ROOT, "trial_runner", "hooks", "python")
REPORTER = os.path.join(ROOT, "trial_runner", "reporters")
_TOLD = re.compile(r"\[steptune\] (\{.*\})\n")
_MOST_S = 100


class Ran:
    def __init__(self, output, status):
        self.status = status
        self.output = output
        # A report may be in the middle of a line of the program, which writes its buffer whenever it is full.
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


class _Started:
    """A process that runs a program."""

    def __init__(self, child, output):
        self._child = child
        self._output = output

    def wait(self):
        _, status = os.waitpid(self._child, 0)
        with self._output:
            self._output.seek(0)
            output = self._output.read().decode()
        return Ran(output, os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1)


def run(name, *arguments, **how):
    return start(name, *arguments, **how).wait() if how else _run_untouched(name, arguments)


def _run_untouched(name, arguments):
    """Runs a program without the hook once for all tests of this process and its forks, since programs print the same
    in each run."""
    words = json.dumps((name, arguments)).encode()
    path = os.path.join(_kept.name, hashlib.sha256(words).hexdigest())
    if not os.path.exists(path):
        ran = start(name, *arguments).wait()
        with open(path, "w", encoding="utf-8") as file:
            json.dump((ran.output, ran.status), file)
    with open(path, encoding="utf-8") as file:
        return Ran(*json.load(file))


def start(name, *arguments, hook=None, prepare=None, environment=(), before_hook=None):
    """Runs a program in a fork of this process. `hook`: result of `settings`, or None for no hook. The child calls
    `before_hook` before installing the hook, and `prepare` before the program."""
    output = tempfile.TemporaryFile()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.environ.update(environment)
        _run_in_child(program(name), arguments, hook, prepare, before_hook, output.fileno())
    return _Started(child, output)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def launch_environment(rank, world_size, port):
    """Returns the environment of a rank, as torchrun sets it."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "STEPTUNE_ALL_RANKS": "1",
        "USE_LIBUV": "0",  # Debian builds PyTorch 2 without it
    }


def _run_in_child(path, arguments, hook, prepare, before_hook, output):
    atexit._clear()  # drops functions that the test runner registered
    status = 1
    signal.alarm(_MOST_S)  # ranks that wait for each other would do so for half an hour
    try:
        warnings.simplefilter("ignore", ResourceWarning)  # for files that the test runner has open
        _ignore_warnings_about_forks()
        os.dup2(output, 1)
        os.dup2(output, 2)
        faulthandler.dump_traceback_later(_MOST_S - 5, file=output)
        sys.argv = [path] + list(arguments)
        sys.path[:0] = [os.path.dirname(path), REPORTER]
        os.environ.pop("STEPTUNE_TRIAL", None)
        if before_hook is not None:
            before_hook()
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
    """Ignores a warning that Python has from 3.12 on. It contains the number of a process that has threads and forks,
    so outputs of two runs would differ."""
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
    # Also ignore PyTorch's warning of too many workers, on machines with few processors.
    warnings.filterwarnings("ignore", "This DataLoader will create")


def _enter(hook):
    os.environ["STEPTUNE_PYTHON"] = hook
    os.environ["STEPTUNE_TRIAL"] = "1"
    os.environ["PYTHONPATH"] = HOOK
    sys.path.append(HOOK)
    from steptune_hook.pytorch import hook as entered

    entered.install()


def _leave(status):
    """Ends this child like an interpreter."""
    atexit._run_exitfuncs()
    gc.collect()  # ends the workers of loaders
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run_fresh(command, hook=None, path=(), environment=(), python=sys.executable, timeout_s=100):
    """Runs `command` after the interpreter: its options, the program and its arguments."""
    variables = dict(os.environ, **dict(environment))
    variables.pop("STEPTUNE_PYTHON", None)
    variables.pop("PYTHONPATH", None)
    folders = ([HOOK] if hook is not None else []) + list(path)
    if folders:
        variables["PYTHONPATH"] = os.pathsep.join(folders)
    if hook is not None:
        variables["STEPTUNE_PYTHON"] = hook
    ran = subprocess.run(
        [python, "-B"] + list(command),
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout_s,
    )
    return Ran(ran.stdout.decode(), ran.returncode)

