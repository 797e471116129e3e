# SPDX-License-Identifier: Apache-2.0
"""The factor of a scaled loss: as GradScaler finds it, with its defaults
(https://pytorch.org/docs/stable/amp.html#torch.amp.GradScaler)."""

import weakref

_FIRST = 2.0**16
_STEPS_TO_GROW = 2000
# Of all powers of two those by which 32 bits can be multiplied and divided.
_LEAST = 2.0**-100
_MOST = 2.0**100


class ScaleFactor:
    def __init__(self):
        self.value = _FIRST
        self._good_steps = weakref.WeakKeyDictionary()  # in a row, by optimizer
        self._was_halved = False  # since the last backward: others' gradients are not finite by the same one

    def backward_begins(self):
        self._was_halved = False

    def stepped(self, optimizer, are_finite):
        """One with such gradients; each optimizer counts its own, as a GradScaler is updated once for all of them."""
        if not are_finite:
            self._good_steps.clear()
            if not self._was_halved:
                self.value = max(self.value / 2, _LEAST)
                self._was_halved = True
            return
        steps = self._good_steps.get(optimizer, 0) + 1
        self._good_steps[optimizer] = steps
        if steps == _STEPS_TO_GROW:
            self._good_steps.clear()
            self.value = min(self.value * 2, _MOST)
