# SPDX-License-Identifier: Apache-2.0
"""Finds this process's rank, and decides which process prints."""

import contextlib
import os
import sys


# Names of the variables by launcher: torchrun, Open MPI, MPICH and Intel MPI.
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_WORLD_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_LOCAL_WORLD_SIZES = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def rank_and_world_size():
    group = _group()
    if group is not None:
        return group
    try:
        return int(_first_set(_RANKS, "0")), max(1, int(_first_set(_WORLD_SIZES, "1")))
    except ValueError:
        return 0, 1


def together():
    """Returns the number of processes that train one model. Processes that do not communicate train one model
    each."""
    group = _group()
    return 1 if group is None else group[1]


def on_this_machine():
    """Returns the number of these processes on this machine; all of them if the launcher does not say."""
    try:
        return max(1, int(_first_set(_LOCAL_WORLD_SIZES, str(together()))))
    except ValueError:
        return together()


def _group():
    """Returns this process's rank among the communicating processes, and their number; None if none communicate."""
    modules = sys.modules
    distributed = getattr(modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    horovod = modules.get("horovod.torch")
    if horovod is not None and horovod.is_initialized():
        return horovod.rank(), horovod.size()
    # `jax.process_index` would set up the devices. `jax.distributed.initialize` must come before that.
    state = getattr(modules.get("jax._src.distributed"), "global_state", None)
    if getattr(state, "client", None) is not None:
        # Older versions do not store the number of processes.
        return state.process_id, getattr(state, "num_processes", None) or state.process_id + 1
    mpi = modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        return mpi.COMM_WORLD.Get_rank(), mpi.COMM_WORLD.Get_size()
    return None


def _first_set(names, otherwise):
    return next(filter(None, map(os.environ.get, names)), otherwise)


def reported_rank():
    """Returns the rank that this process reports with its steps. Returns None if the tuner listens only to the first
    process."""
    if os.environ.get("STEPTUNE_ALL_RANKS") != "1":
        return None
    rank, world_size = rank_and_world_size()
    return rank if world_size > 1 else None


class Printer:
    """Chooses the process that prints. With ranks, rank 0 prints. Without ranks (Hogwild), the first process that
    trains prints. It claims this role by a socket name, which the system frees when the process ends."""

    def __init__(self):
        self._claim = None
        self._claim_of_second = None
        self._is_other_rank = False
        self._is_aloud = False

    def forget(self):
        self._claim = self._claim_of_second = None
        self._is_other_rank = False

    @contextlib.contextmanager
    def aloud(self):
        """Lets this process print, whatever its rank, because its message ends the whole program."""
        self._is_aloud = True
        try:
            yield
        finally:
            self._is_aloud = False

    def may_print(self):
        if self._is_aloud:
            return True
        # Remember a rank other than 0: it is not known after destroy_process_group.
        self._is_other_rank = self._is_other_rank or rank_and_world_size()[0] != 0
        if self._is_other_rank:
            return False
        if self._claim is None:
            self._claim = _claim("first")
        return self._claim is not False

    def is_second(self):
        """Returns True in the second process without ranks that trains. At most one process gets True."""
        if self.may_print() or self._is_other_rank:
            return False
        if self._claim_of_second is None:
            self._claim_of_second = _claim("second")
        return self._claim_of_second is not False


def _claim(place):
    process = sys.modules.get("multiprocessing.process")
    if process is None or not process.current_process()._identity:
        return True
    import socket

    # An abstract name leaves no file. It contains the parent's number, which all processes of a program share.
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind("\0steptune-hook-%d-%d-%s" % (os.getuid(), os.getppid(), place))
        return claim
    except OSError:
        claim.close()
        return False
