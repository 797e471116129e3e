# SPDX-License-Identifier: Apache-2.0
"""Joins the ranks of a launch in a process group, and gives them equal random numbers."""

import os
import random
import sys
import zlib

import torch

from steptune_hook import ranks
from steptune_hook.pytorch.knobs.random_state import usual_sources

_ADDRESS_VARIABLES = ("MASTER_ADDR", "MASTER_PORT")
# Variables that are equal on all ranks of one launch. Some of them differ between launches.
_LAUNCH_VARIABLES = _ADDRESS_VARIABLES + ("TORCHELASTIC_RUN_ID", "PMIX_SERVER_TMPDIR", "STEPTUNE_TRIAL")


def local_rank():
    text = os.environ.get("LOCAL_RANK") or os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK") or "0"
    return int(text)


def why_not():
    """Returns why the ranks of this launch cannot join; None if they can."""
    if not torch.distributed.is_available():
        return "this PyTorch is built without torch.distributed"
    if _has_address():
        return None
    if "OMPI_COMM_WORLD_RANK" not in os.environ:
        return "the launcher sets no MASTER_ADDR and MASTER_PORT, at which ranks meet"
    if os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") != os.environ.get("OMPI_COMM_WORLD_SIZE"):
        return "mpirun over several machines sets no MASTER_ADDR and MASTER_PORT, at which ranks meet"
    if not os.path.isdir(os.environ.get("PMIX_SERVER_TMPDIR", "")):
        return "this mpirun sets no MASTER_ADDR and MASTER_PORT and has no folder of its own, where ranks could meet"
    return None


def join(backend):
    rank, world_size = ranks.rank_and_world_size()
    where = None
    if not _has_address():
        # Use mpirun's own folder, which mpirun removes at its end.
        where = "file://" + os.path.join(os.environ["PMIX_SERVER_TMPDIR"], "steptune-ranks")
    torch.distributed.init_process_group(backend, init_method=where, rank=rank, world_size=world_size)


def _has_address():
    return all(name in os.environ for name in _ADDRESS_VARIABLES)


def seed_equally():
    """Seeds before the program starts. Unseeded draws are then the same on all ranks, but differ between launches."""
    seed = zlib.crc32("\n".join(os.environ.get(name, "") for name in _LAUNCH_VARIABLES).encode())
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


def agree_on_random_numbers(loader):
    """Gives all ranks the random state of rank 0. Samplers draw the order from it."""
    sources = usual_sources(loader.generator, getattr(loader.sampler, "generator", None))
    states = [get() for get, _ in sources]
    torch.distributed.broadcast_object_list(states, src=0)
    if torch.distributed.get_rank() > 0:
        for (_, put), state in zip(sources, states):
            put(state)
