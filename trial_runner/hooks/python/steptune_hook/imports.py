# SPDX-License-Identifier: Apache-2.0
"""Lists the installed modules that the program has imported, which a fork server may import before it."""

import sys

from steptune_hook.call_site import LIBRARIES

_MOST_CHARACTERS = 15000  # the tuner reads 16 KiB of a line


def installed_modules():
    """Returns modules in the order in which their imports began. Leaves out torch, which a fork server imports first.
    Also leaves out the reporter, whose clock starts at its import."""
    names = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("torch", "steptune", "steptune_hook", "sitecustomize", "__main__"):
            continue
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if isinstance(origin, str) and any(part in origin for part in LIBRARIES):
            names.append(name)
    return fitting(names)


def fitting(names):
    """Returns the names that fit into a line, in order. Drops the deepest first, since packages import most of them by
    themselves."""
    fits = set()
    left = _MOST_CHARACTERS
    for name in sorted(names, key=lambda name: name.count(".")):
        left -= len(name) + 3  # quotes and a comma
        if left < 0:
            break
        fits.add(name)
    return [name for name in names if name in fits]
