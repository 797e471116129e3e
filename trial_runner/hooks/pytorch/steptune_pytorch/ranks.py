# SPDX-License-Identifier: Apache-2.0
"""Which process of a training this is, and which one of them prints."""

import contextlib
import os
import sys


# As launchers name them: torchrun's, Open MPI's, that of MPICH and Intel MPI.
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
    """How many processes train one model. Several that were started and do not communicate each
    train their own."""
    group = _group()
    return 1 if group is None else group[1]


def on_this_machine():
    """How many of them share its memory; where the launcher does not say so, all of them."""
    try:
        return max(1, int(_first_set(_LOCAL_WORLD_SIZES, str(together()))))
    except ValueError:
        return together()


def _group():
    """This process's rank among those that communicate, and how many they are; None if none do."""
    modules = sys.modules
    distributed = getattr(modules["torch"], "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    horovod = modules.get("horovod.torch")
    if horovod is not None and horovod.is_initialized():
        return horovod.rank(), horovod.size()
    mpi = modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        return mpi.COMM_WORLD.Get_rank(), mpi.COMM_WORLD.Get_size()
    return None


def _first_set(names, otherwise):
    return next(filter(None, map(os.environ.get, names)), otherwise)


def told_rank():
    """The rank that this process tells with its steps: where the tuner has started several and
    listens to each. None: only the first one tells."""
    if os.environ.get("STEPTUNE_ALL_RANKS") != "1":
        return None
    rank, world_size = rank_and_world_size()
    return rank if world_size > 1 else None


class Printer:
    """One of the processes of a program prints: rank 0 or, of processes without ranks (Hogwild),
    the first that trains. Their claim is a name that goes when they end."""

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
        """This process prints, whichever it is: what it tells is the end of all of them."""
        self._is_aloud = True
        try:
            yield
        finally:
            self._is_aloud = False

    def may_print(self):
        if self._is_aloud:
            return True
        # Also once it has left the others (destroy_process_group).
        self._is_other_rank = self._is_other_rank or rank_and_world_size()[0] != 0
        if self._is_other_rank:
            return False
        if self._claim is None:
            self._claim = _claim("first")
        return self._claim is not False

    def is_second(self):
        """Of processes without ranks, as far as they have trained; of several that ask one is."""
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

    # Abstract: no file is left behind. The parent is the same for all of them.
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind("\0steptune-pytorch-%d-%d-%s" % (os.getuid(), os.getppid(), place))
        return claim
    except OSError:
        claim.close()
        return False
