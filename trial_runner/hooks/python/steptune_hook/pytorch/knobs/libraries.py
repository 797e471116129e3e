# SPDX-License-Identifier: Apache-2.0
"""Libraries of PyTorch that read environment variables."""

import torch

# Earlier versions of NCCL cannot set the algorithm of a single collective. A tree for all collectives ends the program,
# because NCCL has trees for all-reduce only.
_ALGORITHM_BY_COLLECTIVE = (2, 24)


def why_not(name):
    """Returns why the environment's knob has no effect with this PyTorch; None if it has one."""
    if name == "cuda_alloc_conf" and not torch.cuda.is_available():
        return "no GPU"
    if name == "openblas_threads" and torch.backends.mkl.is_available():
        return "this PyTorch computes with MKL, which follows num_threads"
    if name == "omp_wait_policy" and not torch.backends.openmp.is_available():
        return "this PyTorch is built without OpenMP"
    if name.startswith("nccl_"):
        return _why_not_nccl(name)
    return None


def _why_not_nccl(name):
    if not torch.cuda.is_available():
        return "no GPU"
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return "torch.distributed connects no ranks"
    # Since PyTorch 2, a group may have a backend for each device: `cpu:gloo,cuda:nccl`.
    backends = getattr(distributed, "get_backend_config", distributed.get_backend)()
    if "nccl" not in backends:
        return "the ranks communicate by %s, not by NCCL" % backends
    version = tuple(torch.cuda.nccl.version()[:2])
    if name == "nccl_algorithm" and version < _ALGORITHM_BY_COLLECTIVE:
        return "NCCL %d.%d takes no algorithm for one collective; NCCL 2.24 does" % version
    return None
