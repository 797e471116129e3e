# SPDX-License-Identifier: Apache-2.0
"""Finds the free memory for batches."""

import os


def free_bytes():
    """Returns the smaller of the free main memory and the free space of /dev/shm, through which workers pass batches."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    free = 1024 * int(line.split()[1])
        shared = os.statvfs("/dev/shm")
        free = min(free, shared.f_bavail * shared.f_frsize)
    except OSError:
        pass
    return free
