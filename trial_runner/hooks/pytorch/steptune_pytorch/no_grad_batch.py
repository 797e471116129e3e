# SPDX-License-Identifier: Apache-2.0
"""A batch that was fetched while gradients were disabled: an evaluation's or, if a training forward is given
it, a step's."""

import weakref

from steptune_pytorch import tensors


class NoGradBatch:
    """`samples_of_all`: of all ranks. Keeps none of the batch's memory."""

    def __init__(self, loader, batch, samples, samples_of_all):
        self.loader = loader
        self.samples = samples
        self.samples_of_all = samples_of_all
        self._tensors = [weakref.ref(tensor) for tensor in _memories(batch)]

    def is_given_to(self, inputs, evaluated_since):
        """Whether a training forward with these inputs is one on this batch. `evaluated_since`: a forward
        without gradients has come in between, which it may have been for."""
        given = _memories(inputs)
        held = [tensor() for tensor in self._tensors]
        if any(tensor is other for tensor in given for other in held):
            return True
        # Copies of it (to a device, normalised) are known by their number.
        return not evaluated_since and self.samples > 0 and tensors.samples_in(inputs) == self.samples


def _memories(value):
    """The tensors in it; of views those that they are views of."""
    found = []
    tensors.converted(value, found.append)
    return [tensor if tensor._base is None else tensor._base for tensor in found]
