# SPDX-License-Identifier: Apache-2.0
"""The gradients that a program's optimizer uses, and the number of ranks over which they are averaged."""

import torch

from steptune_hook import ranks

_EXACT_ENOUGH = (torch.float32, torch.float64)


class Gradients:
    def __init__(self, parameters, parallel):
        self.parameters = parameters
        self.parallel = parallel  # the module that averages the gradients over the ranks; None without ranks
        self.ranks = ranks.together()
        # Without synchronisation (`no_sync`), the first backward computes this rank's own gradient.
        self.ranks_of_first = self.ranks if self.are_whole() else 1

    def are_whole(self):
        """True if the current or last backward averages the gradients over all ranks."""
        return self.parallel is None or self.parallel.require_backward_grad_sync

    def norm(self):
        """Returns the norm of all gradients together, on their device. Returns None if it cannot be computed in one
        operation."""
        gradients = self._dense()
        if gradients is None:
            return None
        if not gradients:
            return torch.zeros((), device=self.parameters[0].device)
        if all(gradient.dtype in _EXACT_ENOUGH for gradient in gradients):
            norms = torch._foreach_norm(gradients)
        else:
            norms = [norm_of(gradient) for gradient in gradients]
        return torch.linalg.vector_norm(torch.stack([norm.float() for norm in norms]))

    def smallest(self):
        """Returns the parameter with the smallest gradient; None if no parameter has one."""
        found = [p for p in self.parameters if p.grad is not None]
        return min(found, key=torch.Tensor.numel) if found else None

    def _dense(self):
        found = [p.grad for p in self.parameters if p.grad is not None]
        device = self.parameters[0].device
        return found if all(is_dense(g) and g.device == device for g in found) else None


class Witness:
    """A parameter's gradient, and the number of times it was written."""

    def __init__(self, parameter):
        self._parameter = parameter
        self._gradient = parameter.grad
        self._writes = parameter.grad._version

    def was_touched(self):
        """True if the gradient was zeroed, clipped or replaced since."""
        return self._parameter.grad is not self._gradient or self._gradient._version != self._writes


def trained_by(optimizers):
    return (p for optimizer in optimizers for group in optimizer.param_groups for p in group["params"])


def is_dense(gradient):
    return type(gradient) is torch.Tensor and gradient.layout == torch.strided


def norm_of(gradient):
    if gradient.dtype in _EXACT_ENOUGH:
        return torch.linalg.vector_norm(gradient)
    return torch.linalg.vector_norm(gradient, dtype=_accumulated_in(gradient))


def _accumulated_in(gradient):
    if gradient.is_complex():
        return torch.promote_types(gradient.dtype, torch.complex64)
    return torch.float32


def of(hook):
    """Returns the gradients; None if no noise scale can be measured. Several optimizers are such a case, because each
    has its own losses. So are ranks without a DistributedDataParallel over all of them, and ranks other than 0, which
    print nothing."""
    optimizers = list(hook.optimizers.alive)
    if len(optimizers) != 1:
        return None
    rank, world_size = ranks.rank_and_world_size()[0], ranks.together()
    parallel = None
    if world_size > 1:
        parallel = _data_parallel(hook, world_size)
        if parallel is None or rank != 0:
            return None
    parameters = list(trained_by(optimizers))
    return Gradients(parameters, parallel) if parameters else None


def _data_parallel(hook, world_size):
    """Returns the DistributedDataParallel that is an outermost module or wraps one. Ignores modules inside a compiled
    module, which are not watched, and modules that the hook itself wraps."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    roots = list(hook.modules.roots)
    in_front = [parallel for parallel in list(hook.knobs.ddp.made) if parallel.module in roots]
    for module in [getattr(root, "_orig_mod", root) for root in roots] + in_front:
        if isinstance(module, DistributedDataParallel):
            size = distributed.get_world_size(module.process_group)
            return module if size == world_size else None
    return None
