# SPDX-License-Identifier: Apache-2.0
"""Samples that were counted in the inputs of a forward: trained on once a backward goes through its output."""

from steptune_pytorch import tensors


class CountedInputs:
    def __init__(self, progress, samples):
        self._progress = progress
        self._samples = samples
        self._is_followed = False
        self._is_trained_on = False

    def follow(self, output):
        """Of what holds no tensors that are found nothing will be known: as if trained on."""
        found = []
        tensors.converted(output, found.append)
        # Not on a tensor, which may be pickled with what hangs on it.
        try:
            for node in {tensor.grad_fn for tensor in found if tensor.grad_fn is not None}:
                node.register_hook(self._backward_comes)
        except RuntimeError:  # within a transformation (torch.func), say
            return
        if found and not self._is_followed:
            self._is_followed = True
            self._progress.follows(self._samples)

    def _backward_comes(self, *_):
        if not self._is_trained_on:
            self._is_trained_on = True
            self._progress.backward_reaches(self._samples)
