# SPDX-License-Identifier: Apache-2.0
"""Factor of a scaled loss. It changes as in GradScaler, with the same defaults
(https://pytorch.org/docs/stable/amp.html#torch.amp.GradScaler)."""

import weakref

_FIRST = 2.0**16
_STEPS_TO_GROW = 2000
# Powers of two within the range by which 32-bit numbers can be multiplied and divided.
_LEAST = 2.0**-100
_MOST = 2.0**100


class ScaleFactor:
    def __init__(self):
        self.value = _FIRST
        self._good_steps = weakref.WeakKeyDictionary()  # consecutive, by optimizer
        # Since the last backward; other optimizers' gradients may be infinite for the same reason.
        self._was_halved = False

    def backward_begins(self):
        self._was_halved = False

    def stepped(self, optimizer, are_finite):
        """Called after a step. Each optimizer counts its own good steps, since a GradScaler is updated once for all of
        them."""
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
