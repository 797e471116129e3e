# SPDX-License-Identifier: Apache-2.0
"""How workers are started of which the program has none."""

import multiprocessing


def why_not(loader):
    method = _method(loader)
    if method == "fork" or context(loader) is not None:
        return None
    return "workers are started by %s and would run the program's file again" % method


def context(loader):
    """In a process that was spawned itself, a rank of mp.spawn: fork, as under torchrun. PyTorch would spawn them, too,
    which takes seconds in each pass and prints again what the program's file prints. None: PyTorch's own."""
    is_spawned = multiprocessing.parent_process() is not None and _method(loader) != "fork"
    is_open = not loader.num_workers and loader.multiprocessing_context is None
    may_fork = "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork") if is_spawned and is_open and may_fork else None


def _method(loader):
    given = loader.multiprocessing_context
    if given is not None:
        return given.get_start_method()
    # Asking for the method in force would settle it.
    method = multiprocessing.get_start_method(allow_none=True)
    return method or multiprocessing.get_all_start_methods()[0]
