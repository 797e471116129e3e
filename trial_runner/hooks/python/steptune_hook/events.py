# SPDX-License-Identifier: Apache-2.0
"""Reports everything except progress: `{"v":1,"hook":{...}}` lines and the file of events."""

import json
import os
import sys

# Every process writes these events to the file, not only the process that prints.
_EVENTS_OF_EACH_PROCESS = ("patched", "disabled")

_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def encoded(document):
    """Returns the document as UTF-8. Replaces invalid characters, such as those of a file name. With one, the tuner
    would ignore the whole line."""
    return _encoder.encode(document).encode("utf-8", "replace")


def first_line(error):
    """Returns the first line of an error, or its type if it has no text."""
    return (str(error) or type(error).__name__).split("\n")[0]


def last_line(error):
    """Returns the last line of an error. A worker's error first says where it came from."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def write_line(document):
    """Writes one `[steptune]` line in one write, even if the program has replaced sys.stdout."""
    if sys.__stdout__ is None or sys.__stdout__.closed:
        return  # descriptor 1 may belong to another file
    os.write(1, b"[steptune] " + encoded(document) + b"\n")


class Events:
    """Reports each event when it is new or has changed. Reports nothing before `open`, so a program that does not train
    gets no reports."""

    def __init__(self, settings, printer, send_to_tuner=None):
        self._settings = settings
        self._send_to_tuner = send_to_tuner
        self._printer = printer
        self._last = {}
        self._waiting = []
        self._warned = set()
        self._open = False

    def tell(self, event, identity=None, **fields):
        document = dict({"event": event}, **fields)
        before = self._last.get((event, identity))
        if before == document:
            return
        self._last[event, identity] = document
        if self._open:
            self._write(document, before)
        else:
            self._waiting.append((document, before))

    def warn(self, text):
        """Prints a warning once on stderr, for the person who started a long run."""
        if text not in self._warned and self._printer.may_print():
            self._warned.add(text)
            _try(os.write, 2, ("steptune: %s\n" % text).encode("utf-8", "replace"))

    def open(self):
        self._open = True
        waiting, self._waiting = self._waiting, []
        for document, before in waiting:
            self._write(document, before)

    def _write(self, document, before):
        # If one rank refuses a knob, the other ranks do not set it, either. So each rank reports refusals.
        tells = self._printer.may_print() or _is_refusal(document, before)
        if self._settings.events and (tells or document["event"] in _EVENTS_OF_EACH_PROCESS):
            _try(append, self._settings.events, document)
        if self._settings.prints_events and (tells or document["event"] == "disabled"):
            _try(write_line, {"v": 1, "hook": document})
        if self._send_to_tuner is not None:
            self._send_to_tuner(document)


def _is_refusal(document, before):
    """True if a rank other than 0 refuses the knob, or no longer refuses it. `before`: the last event of the knob, or
    None."""
    return bool(document.get("rank")) and not all(row.get("may", True) for row in (document, before or document))


def _try(write, *what):
    """Ignores errors, so the program continues if nobody reads the events or the file's folder is gone."""
    try:
        write(*what)
    except OSError:
        pass


def append(path, document):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, encoded(document) + b"\n")
    finally:
        os.close(descriptor)


def append_imported(settings, family):
    """Reports `imported` at once. All other events wait until the program trains, which may take minutes."""
    if settings.mode == "survey" and settings.events:
        _try(append, settings.events, {"event": "imported", "pid": os.getpid(), "family": family})


def append_armed():
    from steptune_hook import settings

    path = settings.read().events
    if path and "--multiprocessing-fork" not in sys.argv:
        # sys.argv is not set yet when sitecustomize runs; sys.orig_argv is.
        program = " ".join(getattr(sys, "orig_argv", [])[1:3])
        version = "%d.%d.%d" % sys.version_info[:3]
        _try(append, path, {"event": "armed", "pid": os.getpid(), "python": version, "program": program})
