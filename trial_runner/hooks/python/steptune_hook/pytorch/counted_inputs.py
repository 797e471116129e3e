# SPDX-License-Identifier: Apache-2.0
"""Remembers how many samples were in the inputs of a forward. They count as trained if a backward goes through the
forward's output."""

from steptune_hook.pytorch import tensors


class CountedInputs:
    """`count` is the `SampleCount` that is informed of backwards."""

    def __init__(self, count, samples):
        self._count = count
        self._samples = samples
        self._is_followed = False
        self._is_trained_on = False

    def follow(self, output):
        """Watches the output for a backward. An output without tensors cannot be watched and counts as trained on."""
        found = tensors.all_in(output)
        # The hook is on the node, since a tensor may be pickled with its hooks.
        try:
            for node in {_node(tensor) for tensor in found} - {None}:
                node.register_hook(self._backward_comes)
        except RuntimeError:  # within a transformation such as torch.func
            return
        if found and not self._is_followed:
            self._is_followed = True
            self._count.followed += self._samples

    def _backward_comes(self, *_):
        if not self._is_trained_on:
            self._is_trained_on = True
            self._count.reached += self._samples


def _node(tensor):
    """Returns the node that a backward through the tensor reaches. If the program writes to a view later, the view gets
    a new node, but its base keeps this one."""
    of_base = tensor._base.grad_fn if tensor._is_view() else None
    return tensor.grad_fn if of_base is None else of_base
