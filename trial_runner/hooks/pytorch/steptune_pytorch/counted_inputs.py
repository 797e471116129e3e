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
            for node in {_node(tensor) for tensor in found} - {None}:
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


def _node(tensor):
    """What a backward through it reaches. A view that the program then writes to has another node, and leaves that of
    its base in place."""
    of_base = tensor._base.grad_fn if tensor._is_view() else None
    return tensor.grad_fn if of_base is None else of_base
