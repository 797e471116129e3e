# SPDX-License-Identifier: Apache-2.0
"""Starts the hook in every Python that has this folder on PYTHONPATH; protocol: docs/internals/hooks-protocol.md.

Without STEPTUNE_PYTHON and STEPTUNE_FORK_SERVER it only removes its folder from the path, and runs the next
`sitecustomize` on the path, which this file hides.
"""

import os
import sys


def _others(folder):
    return [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]


def _run_shadowed():
    """Imports the next `sitecustomize` as the interpreter would have, with its own name and errors."""
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = own


def _enter():
    folder = os.path.dirname(os.path.abspath(__file__))
    serve = None
    try:
        if os.environ.get("STEPTUNE_FORK_SERVER"):
            from steptune_hook.pytorch.fork_server import serve
        else:
            _arm()
    except Exception as error:  # a fault of the hook must not stop the program
        sys.stderr.write("steptune: the hook cannot start: %s\n" % error)
    finally:
        # Restore the path that the program would have without the hook.
        sys.path[:] = _others(folder)
        _run_shadowed()
    if serve is not None:
        serve(_arm)


def _arm():
    if os.environ.get("STEPTUNE_PYTHON"):
        from steptune_hook import arrival

        arrival.arm()


_enter()
