# SPDX-License-Identifier: Apache-2.0
"""Finds the line of the user's program that made a call."""

import os
import sys
import traceback

LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def program_folder():
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    return os.path.dirname(os.path.abspath(program)) if os.path.isfile(program) else os.getcwd()


def where():
    """Returns `train.py:114`: the innermost frame outside libraries, otherwise the innermost outside torch."""
    return _innermost(traceback.walk_stack(sys._getframe(1)))


def of_error(error):
    """Returns the line of the user's program at which an exception was raised."""
    return _innermost(reversed(list(traceback.walk_tb(error.__traceback__))))


def _innermost(frames):
    torch_folder = os.path.dirname(os.path.abspath(sys.modules["torch"].__file__)) + os.sep
    standard_library = os.path.dirname(os.__file__) + os.sep
    outside_torch = None
    for frame, line in frames:
        name = frame.f_code.co_filename
        path = os.path.abspath(name)
        if name.startswith("<") or path.startswith((_OURS, torch_folder)):
            continue
        if outside_torch is None:
            outside_torch = (path, line)
        library = any(mark in path for mark in LIBRARIES) or path.startswith(standard_library)
        if not library:
            return _shown(path, line)
    return _shown(*outside_torch) if outside_torch else ""


def _shown(path, line):
    folder = program_folder() + os.sep
    return "%s:%d" % (path[len(folder) :] if path.startswith(folder) else path, line)
