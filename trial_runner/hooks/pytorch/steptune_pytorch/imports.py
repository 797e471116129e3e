# SPDX-License-Identifier: Apache-2.0
"""Which installed modules the program has imported: what a fork server may import before it."""

import sys

from steptune_pytorch.call_site import LIBRARIES

_MOST_CHARACTERS = 24000  # a line of output


def installed_modules():
    """In the order in which their imports began; torch brings its own."""
    names = []
    characters = 0
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("torch", "steptune_pytorch", "sitecustomize", "__main__"):
            continue
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if not isinstance(origin, str) or not any(part in origin for part in LIBRARIES):
            continue
        characters += len(name) + 3
        if characters > _MOST_CHARACTERS:
            break
        names.append(name)
    return names
