# SPDX-License-Identifier: Apache-2.0
"""Emulated time, which is compressed real time."""

import time


class ScaledClock:
    """Emulated seconds since 1970; `scale` of them pass in one real second."""

    def __init__(self, scale):
        self.scale = scale
        self._real_start = time.monotonic()
        self._start = time.time()

    def now(self):
        return self._start + (time.monotonic() - self._real_start) * self.scale

    def real_seconds(self, emulated_seconds):
        return emulated_seconds / self.scale
