# SPDX-License-Identifier: Apache-2.0
"""Pages of 2 MiB for memory on the CPU, which the kernel provides if an allocator requests them."""

import os

from steptune_hook.knobs import preload

VALUE = "hugepages"
_MODES = "/sys/kernel/mm/transparent_hugepage/enabled"
_LEAST_GLIBC = (2, 35)  # the first with glibc.malloc.hugetlb


def why_not():
    """Returns why a request of the current allocator for huge pages would have no effect; None if it would have one."""
    if "[madvise]" not in _text(_MODES):
        # In the mode `always`, the kernel gives huge pages to all programs, and glibc does not request them.
        return "transparent huge pages are not in the mode madvise"
    if preload.is_jemalloc_loaded() or _glibc_version() >= _LEAST_GLIBC:
        return None
    return "glibc.malloc.hugetlb needs glibc 2.35"


def are_in_use():
    """True if the kernel has given some to this process."""
    for line in _text("/proc/self/smaps_rollup").splitlines():
        if line.startswith("AnonHugePages:"):
            return int(line.split()[1]) > 0
    return False


def _glibc_version():
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        return tuple(int(part) for part in version.split(".")[:2]) if name == "glibc" else (0, 0)
    except (AttributeError, OSError, ValueError):
        return (0, 0)


def _text(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""
