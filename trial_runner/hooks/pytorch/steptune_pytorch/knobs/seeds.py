# SPDX-License-Identifier: Apache-2.0
"""Gradients of a backward's roots, with which it starts."""

import torch


def scaled(roots, given, factor):
    """Returns the gradients of `roots` times `factor`, as `grad_tensors`. Leaves arguments unchanged that PyTorch would
    refuse."""
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
