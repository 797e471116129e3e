# SPDX-License-Identifier: Apache-2.0
"""Finds the program `steptune`, runs its commands and reads their JSON documents."""

from __future__ import annotations

import csv
import ctypes
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

SCHEMA_VERSION = 1
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PR_SET_PDEATHSIG = 1  # prctl(2)
_ERROR = "steptune: error: "
_WARNING = "steptune: warning: "


class Error(Exception):
    """The program `steptune` could not do its work. The text of the exception is the program's message."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.message = message
        self.code = code  #: exit code of the program, see "Exit codes" in docs/cli.md

    def __str__(self) -> str:
        return self.message


class ProgramNotFound(Error):
    """The program `steptune` is not installed. The code is 127, as in a shell."""


def program() -> str:
    """Returns the path of the program `steptune` that was installed with this package, otherwise the first on PATH."""
    found = _installed_with_package() or shutil.which("steptune")
    if found is None:
        raise ProgramNotFound(
            "the program steptune was not found: it was not installed with %s and is not on PATH\n"
            "  install the wheel of Steptune, or add the folder of the program to PATH" % _FOLDER,
            127,
        )
    return found


def _installed_with_package() -> Optional[str]:
    """Finds the program in pip's list of the files that it installed from the wheel. This works even if the virtual
    environment is not activated.
    """
    site = os.path.dirname(_FOLDER)
    for record in glob.glob(os.path.join(glob.escape(site), "steptune-*.dist-info", "RECORD")):
        with open(record, encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                path = os.path.normpath(os.path.join(site, row[0])) if row else ""
                if path.endswith("/bin/steptune") and os.access(path, os.X_OK):
                    return path
    return None


def document(
    words: Sequence[str], folder: Optional[str] = None, show: bool = False, results: Sequence[int] = (0,)
) -> Dict[str, Any]:
    """Runs `steptune WORDS --json` in `folder` and returns its document.

    show: print the program's messages to sys.stderr. If False, its warnings become Python warnings.
    results: exit codes with which the program prints a document. Other exit codes, or an empty output, raise Error.
    """
    # The options end at "--". A training command may follow.
    end = words.index("--") if "--" in words else len(words)
    words = [*words[:end], "--json", "--color", "never", *words[end:]]
    code, output, messages = _run([program(), *words], folder, show)
    errors, advice = _parts(messages)
    parsed = _parsed(output) if code in results and output.strip() else None
    if parsed is None:
        reason = "\n".join(errors) or _reason(output) or "\n".join(messages[-5:])
        raise Error(reason or "steptune %s ended with code %d and no message" % (words[0], code), code)
    for text in () if show else advice:
        warn(text)
    return parsed


def warn(text: str) -> None:
    """Raises a Python warning. It names the line outside this package that called the package."""
    level = 1
    while sys._getframe(level).f_code.co_filename.startswith(_FOLDER):
        level += 1
    warnings.warn(text, stacklevel=level + 1)


def _parsed(output: str) -> Dict[str, Any]:
    parsed: Dict[str, Any] = json.loads(output)
    version = parsed.get("schema_version")
    if version != SCHEMA_VERSION:
        raise Error(
            "%s prints documents of version %s, and this package reads version %d: install the same version of both"
            % (program(), version, SCHEMA_VERSION),
            1,
        )
    return parsed


def _reason(output: str) -> str:
    """Returns the reason for a failure, from the document that `steptune run` printed."""
    try:
        return str(json.loads(output)["reason"])
    except (ValueError, KeyError, TypeError):
        return ""


def _parts(messages: Sequence[str]) -> Tuple[List[str], List[str]]:
    """Returns the errors and the warnings among the lines. Indented lines continue the message above."""
    errors: List[str] = []
    advice: List[str] = []
    last: Optional[List[str]] = None
    for line in messages:
        if line.startswith(_ERROR):
            last = errors
            errors.append(line[len(_ERROR) :])
        elif line.startswith(_WARNING):
            last = advice
            advice.append(line[len(_WARNING) :])
        elif last is not None and line.startswith("  "):
            last[-1] += "\n" + line
        else:
            last = None
    return errors, advice


def _run(argv: Sequence[str], folder: Optional[str], show: bool) -> Tuple[int, str, List[str]]:
    """Returns the exit code, stdout and the lines of stderr."""
    output: List[str] = []
    messages: List[str] = []
    with _Signals() as signals:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # the terminal sends no SIGINT at Ctrl-C; _Signals sends one
            preexec_fn=_ending_with_parent(),
        )
        signals.pass_to(process)
        assert process.stdout is not None and process.stderr is not None
        reader = threading.Thread(target=lambda out: output.append(out.read()), args=(process.stdout,), daemon=True)
        reader.start()
        for line in process.stderr:
            messages.append(line.rstrip("\n"))
            if show:
                sys.stderr.write(line)
                sys.stderr.flush()
        reader.join()
        code = process.wait()
        process.stdout.close()
        process.stderr.close()
    return code if code >= 0 else 128 - code, "".join(output), messages


def _ending_with_parent() -> Optional[Callable[[], object]]:
    """Returns a function that the new process calls. The process then gets SIGTERM if this Python process dies. A
    notebook, for example, kills Python to restart it. The tuner must not continue after that.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return None if prctl is None else lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class _Signals:
    """Passes SIGINT, SIGTERM and SIGHUP on to the program while it runs. When the program has ended, this process
    handles the first of these signals, too.

    After the first signal the program saves its results and ends. After the second signal it kills its trials. Python
    handles signals only in its main thread. If another thread runs the program, this class does nothing.
    """

    def __init__(self) -> None:
        self._process: Optional[subprocess.Popen[str]] = None
        self._pending: List[int] = []
        self._handlers: Dict[int, Any] = {}

    def __enter__(self) -> "_Signals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                handler = signal.getsignal(number)
                if handler is not None and handler != signal.SIG_IGN:
                    self._handlers[number] = signal.signal(number, self._received)
        return self

    def pass_to(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        for number in self._pending:
            process.send_signal(number)

    def _received(self, number: int, frame: object) -> None:
        self._pending.append(number)
        if self._process is not None:
            self._process.send_signal(number)

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._pending:
            os.kill(os.getpid(), self._pending[0])
