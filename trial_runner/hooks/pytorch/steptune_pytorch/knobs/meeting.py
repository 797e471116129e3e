# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a launch meet, and what they have in common before they do."""

import os
import random
import sys
import zlib

import torch

from steptune_pytorch import ranks

_TORCHRUN = ("MASTER_ADDR", "MASTER_PORT")
_OF_LAUNCH = _TORCHRUN + ("TORCHELASTIC_RUN_ID", "PMIX_SERVER_TMPDIR", "STEPTUNE_TRIAL")


def local_rank():
    text = os.environ.get("LOCAL_RANK") or os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK") or "0"
    return int(text)


def why_not():
    """Why the ranks of this launch cannot meet; None if they can."""
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
        # The folder of this mpirun, which removes it.
        where = "file://" + os.path.join(os.environ["PMIX_SERVER_TMPDIR"], "steptune-ranks")
    torch.distributed.init_process_group(backend, init_method=where, rank=rank, world_size=world_size)


def _has_address():
    return all(name in os.environ for name in _TORCHRUN)


def seed_equally():
    """Before the program does anything: what it draws without a seed of its own is then the same on
    all ranks, and another in the next launch."""
    seed = zlib.crc32("\n".join(os.environ.get(name, "") for name in _OF_LAUNCH).encode())
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


def agree_on_random_numbers(loader):
    """Samplers draw the order from them."""
    generators = {
        id(g): g
        for g in (loader.generator, getattr(loader.sampler, "generator", None))
        if isinstance(g, torch.Generator)
    }
    sources = _sources() + [(g.get_state, g.set_state) for g in generators.values()]
    states = [get() for get, _ in sources]
    torch.distributed.broadcast_object_list(states, src=0)
    if torch.distributed.get_rank() > 0:
        for (_, put), state in zip(sources, states):
            put(state)


def _sources():
    """How the random numbers of a program are read and set: (get, set) each."""
    sources = [(torch.get_rng_state, torch.set_rng_state), (random.getstate, random.setstate)]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        sources.append((numpy.random.get_state, numpy.random.set_state))
    return sources
