# SPDX-License-Identifier: Apache-2.0
"""Counts steps if several optimizers or models alternate (A B A B) or train in succession (A A A B B B)."""

import weakref


class Turns:
    """Counts the steps of several optimizers or models. A round ends when one of them steps a second time. If they
    alternate, only the steps of the one with the most steps in a round count. If they train in succession, each step
    counts except the first one after a change."""

    def __init__(self):
        self._round = weakref.WeakKeyDictionary()  # steps in this round, by optimizer or model

    def new_steps(self, stepped, steps=1):
        """Records `steps` more steps of `stepped`, an optimizer or a model. Returns how many of them count."""
        if stepped in self._round:
            self._round.clear()
        most = max(self._round.values(), default=0)
        self._round[stepped] = steps
        return max(0, steps - most)
