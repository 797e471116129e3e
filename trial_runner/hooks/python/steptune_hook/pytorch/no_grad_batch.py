# SPDX-License-Identifier: Apache-2.0
"""A batch that was fetched while gradients were disabled. It belongs to an evaluation, or to a step if a training
forward receives it."""

import weakref

from steptune_hook.pytorch import tensors


class NoGradBatch:
    """`samples_of_all`: samples on all ranks. Keeps none of the batch's memory."""

    def __init__(self, loader, batch, samples, samples_of_all):
        self.loader = loader
        self.samples = samples
        self.samples_of_all = samples_of_all
        self._tensors = [weakref.ref(tensor) for tensor in _memories(batch)]

    def is_given_to(self, inputs, evaluated_since):
        """True if a training forward with these inputs uses this batch. `evaluated_since`: a forward without gradients
        came in between, which may have used the batch."""
        given = _memories(inputs)
        held = [tensor() for tensor in self._tensors]
        if any(tensor is other for tensor in given for other in held):
            return True
        # Copies of the batch (moved to a device, normalised) are recognised by their number of samples.
        return not evaluated_since and self.samples > 0 and tensors.samples_in(inputs) == self.samples


def _memories(value):
    """Returns the tensors in the value, and the base of each view."""
    return [tensor if tensor._base is None else tensor._base for tensor in tensors.all_in(value)]
