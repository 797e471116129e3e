# SPDX-License-Identifier: Apache-2.0
"""Closures that a program passes to its optimizers."""

import inspect

import torch

SEVERAL_CALLS = "%s may call its closure several times a step"


def calls_once(optimizer):
    """True if the optimizer is known to call its closure once: all of PyTorch's own, except for LBFGS."""
    known = [cls for cls in vars(torch.optim).values() if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)]
    steps = {inspect.unwrap(cls.step) for cls in known if not issubclass(cls, torch.optim.LBFGS)}
    return inspect.unwrap(type(optimizer).step) in steps
