# SPDX-License-Identifier: Apache-2.0
"""Gradient noise scale from squared norms of gradients over a few and over many samples: McCandlish et
al. 2018, "An Empirical Model of Large-Batch Training", appendix A.1."""

import collections
import math

_RECENT = 64  # the scale grows during training
_FEWEST = 4
_CLEAR = 2.0  # standard errors by which the gradient must stand out of its noise
_EQUAL = 1e-4  # of the few samples: a scale below it is that of the same samples seen twice, and rounding


class NoiseEstimate:
    def __init__(self):
        self._noise = collections.deque(maxlen=_RECENT)  # trace of the covariance of one sample's gradient
        self._gradient = collections.deque(maxlen=_RECENT)  # squared norm of the true gradient
        self._few = 0

    def add(self, few, norm_of_few, many, norm_of_many):
        """Norms of the mean gradient over `few` and `many` samples; in any unit, the same for both."""
        small, big = norm_of_few**2, norm_of_many**2
        if not (0 < few < many and math.isfinite(small) and math.isfinite(big)):
            return
        self._few = few
        self._noise.append((small - big) / (1.0 / few - 1.0 / many))
        self._gradient.append((many * big - few * small) / (many - few))

    def samples(self):
        """The scale; None while the gradient is not known apart from its noise."""
        count = len(self._noise)
        if count < _FEWEST:
            return None
        noise, gradient = sum(self._noise) / count, sum(self._gradient) / count
        variance = sum((value - gradient) ** 2 for value in self._gradient) / (count - 1)
        if gradient <= _CLEAR * math.sqrt(variance / count) or noise <= _EQUAL * self._few * gradient:
            return None
        return noise / gradient
