# SPDX-License-Identifier: Apache-2.0
"""How to start workers if the program itself has none."""

import multiprocessing


def why_not(loader):
    method = _method(loader)
    if method == "fork" or context(loader) is not None:
        return None
    return "workers are started by %s and would run the program's file again" % method


def context(loader):
    """Returns the context that starts workers; None for PyTorch's default. In a spawned process (a rank of mp.spawn),
    workers are forked, as under torchrun. PyTorch would spawn them. That takes seconds in each pass and repeats the
    output of the program's file. Python's own default since 3.14, a fork server, would do the same."""
    method = _method(loader)
    is_spawned = multiprocessing.parent_process() is not None and method != "fork"
    is_default = method == "forkserver" and multiprocessing.get_start_method(allow_none=True) is None
    is_open = not loader.num_workers and loader.multiprocessing_context is None
    may_fork = "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork") if (is_spawned or is_default) and is_open and may_fork else None


def _method(loader):
    given = loader.multiprocessing_context
    if given is not None:
        return given.get_start_method()
    # Asking for the current method would fix it.
    method = multiprocessing.get_start_method(allow_none=True)
    return method or multiprocessing.get_all_start_methods()[0]
