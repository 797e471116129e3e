# SPDX-License-Identifier: Apache-2.0
"""Finds the line of the user's program that made a call."""

import os
import sys
import traceback

LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
# Modules of frameworks. Their frames are not the program's. Families add their modules.
FRAMEWORKS = set()
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def program_folder():
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    return os.path.dirname(os.path.abspath(program)) if os.path.isfile(program) else os.getcwd()


def where():
    """Returns `train.py:114`: the innermost frame outside libraries, otherwise the innermost outside the
    frameworks."""
    return _innermost(traceback.walk_stack(sys._getframe(1)))


def of_error(error):
    """Returns the line of the user's program at which an exception was raised."""
    return _innermost(reversed(list(traceback.walk_tb(error.__traceback__))))


def _folder_of(module):
    return os.path.dirname(os.path.abspath(module.__file__)) + os.sep


def _innermost(frames):
    frameworks = tuple(_folder_of(sys.modules[name]) for name in FRAMEWORKS if name in sys.modules)
    standard_library = os.path.dirname(os.__file__) + os.sep
    outside_frameworks = None
    for frame, line in frames:
        name = frame.f_code.co_filename
        path = os.path.abspath(name)
        if name.startswith("<") or path.startswith((_OURS, *frameworks)):
            continue
        if outside_frameworks is None:
            outside_frameworks = (path, line)
        library = any(mark in path for mark in LIBRARIES) or path.startswith(standard_library)
        if not library:
            return _shown(path, line)
    return _shown(*outside_frameworks) if outside_frameworks else ""


def _shown(path, line):
    folder = program_folder() + os.sep
    return "%s:%d" % (path[len(folder) :] if path.startswith(folder) else path, line)
