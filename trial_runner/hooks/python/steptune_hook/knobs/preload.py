# SPDX-License-Identifier: Apache-2.0
"""Finds libraries that replace the program's allocator by LD_PRELOAD."""

import os

_CACHE = "/etc/ld.so.cache"
_FOLDERS = ("/lib", "/usr/lib", "/usr/local/lib")  # searched if the linker has no cache
_ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc", "hoard", "libmalloc")


def is_installed(library):
    """True if the linker finds a library by its name."""
    folders = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    if any(os.path.exists(os.path.join(folder, library)) for folder in folders):
        return True
    try:
        with open(_CACHE, "rb") as cache:
            names = cache.read()
        # The cache stores names and paths, each ending with a zero byte.
        return any(before + library.encode() + b"\0" in names for before in (b"\0", b"/"))
    except OSError:
        return any(os.path.exists(os.path.join(folder, library)) for folder in _FOLDERS)


def is_loaded(library):
    # The mapped file may have a longer name: libx.so.4.5.10 for libx.so.4.
    return any(os.path.basename(path).startswith(library) for path in _loaded())


def why_not(libraries):
    """Returns why none of these allocators can replace the one in use; None if one can, or is already in LD_PRELOAD."""
    own = os.environ.get("LD_PRELOAD", "")
    if own in libraries:
        return None if is_loaded(own) else "%s is not installed" % own
    if own:
        return "LD_PRELOAD is set to %s" % own
    for path in _loaded():
        if is_allocator(path):
            return "the program brings %s" % os.path.basename(path)
    return None


def is_allocator(path):
    return any(allocator in os.path.basename(path) for allocator in _ALLOCATORS)


def is_jemalloc_loaded():
    return any("jemalloc" in os.path.basename(path) for path in _loaded())


def _loaded():
    """Returns the paths of the files that this process has mapped."""
    try:
        with open("/proc/self/maps") as maps:
            return {line.split(None, 5)[5].rstrip("\n") for line in maps if "/" in line}
    except (OSError, IndexError):
        return set()
