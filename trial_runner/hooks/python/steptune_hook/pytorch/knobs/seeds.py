# SPDX-License-Identifier: Apache-2.0
"""Scales the gradients from which a backward starts (`grad_tensors` of torch.autograd.backward)."""

import torch


def scaled(roots, given, factor):
    """Returns what to pass as `grad_tensors` for `roots`: the `given` ones times `factor`; for scalar roots without one,
    `factor` itself. Leaves arguments that PyTorch would refuse unchanged."""
    if isinstance(roots, torch.Tensor):
        return _scaled(roots, given, factor)
    given = [given] * len(roots) if given is None or isinstance(given, torch.Tensor) else list(given)
    return [_scaled(root, seed, factor) for root, seed in zip(roots, given)] if len(given) == len(roots) else given


def _scaled(root, given, factor):
    if isinstance(given, torch.Tensor):
        return given * factor
    if given is None and isinstance(root, torch.Tensor) and root.numel() == 1 and root.requires_grad:
        return torch.full_like(root, factor, requires_grad=False)
    return given
