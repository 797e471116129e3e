# SPDX-License-Identifier: Apache-2.0
"""Libraries of PyTorch that read environment variables."""

import torch


def why_not(name):
    """Returns why the environment's knob has no effect with this PyTorch; None if it has one."""
    if name == "cuda_alloc_conf" and not torch.cuda.is_available():
        return "no GPU"
    if name == "openblas_threads" and torch.backends.mkl.is_available():
        return "this PyTorch computes with MKL, which follows num_threads"
    if name == "omp_wait_policy" and not torch.backends.openmp.is_available():
        return "this PyTorch is built without OpenMP"
    return None
