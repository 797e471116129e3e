# SPDX-License-Identifier: Apache-2.0
"""Enters each Python started with this folder on PYTHONPATH; docs/hooks.md tells the protocol.

Without STEPTUNE_PYTORCH it does nothing but run the `sitecustomize` that it stands in front of.
"""

import os
import sys


def _others(folder):
    return [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]


def _run_shadowed(path):
    """Runs the next `sitecustomize` as the interpreter would have: under its name, errors and all."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _enter():
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        if os.environ.get("STEPTUNE_PYTORCH"):
            from steptune_pytorch import arrival

            arrival.arm()
    except Exception as error:  # whatever is wrong here, the program runs
        sys.stderr.write("steptune: the hook cannot start: %s\n" % error)
    finally:
        # The program sees the path that it would have without the hook.
        sys.path[:] = _others(folder)
        _run_shadowed(sys.path)


_enter()
