# SPDX-License-Identifier: Apache-2.0
"""Checks that gradients are finite, by one number per device, so each step waits only once for each GPU."""

import torch


class FiniteGradients:
    def __init__(self):
        self._ones = {}  # by device

    @torch.no_grad()
    def are_all(self, gradients):
        by_device = {}
        for gradient in gradients:
            held = gradient._values() if gradient.is_sparse else gradient
            by_device.setdefault(held.device, []).append(held)
        return all([self._count_bad(device, held) == 0.0 for device, held in by_device.items()])

    def _count_bad(self, device, gradients):
        found = torch.zeros(1, dtype=torch.float32, device=device)
        if device not in self._ones:
            self._ones[device] = torch.ones(1, dtype=torch.float32, device=device)
        try:
            # One kernel checks all gradients, as in GradScaler.
            torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, self._ones[device])
        except NotImplementedError:  # PyTorch 1 has no such kernel for a CPU
            return float(not all(bool(gradient.isfinite().all()) for gradient in gradients))
        return found.item()
