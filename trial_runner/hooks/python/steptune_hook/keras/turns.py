# SPDX-License-Identifier: Apache-2.0
"""Steps of several optimizers or models that are trained by turns, or one after the other."""

import weakref


class Turns:
    """Counts the steps of several optimizers or models. A turn ends when one of them steps again. If they step by turns,
    only the one with the most steps counts. If they train one after the other, each step counts but the first one after
    a change."""

    def __init__(self):
        self._turn = weakref.WeakKeyDictionary()  # steps of each in this turn

    def new_steps(self, trained, steps=1):
        """Adds `steps` steps of one of them. Returns how many of these count."""
        if trained in self._turn:
            self._turn.clear()
        most = max(self._turn.values(), default=0)
        self._turn[trained] = steps
        return max(0, steps - most)
