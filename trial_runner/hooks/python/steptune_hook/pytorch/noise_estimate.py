# SPDX-License-Identifier: Apache-2.0
"""Estimates the gradient noise scale from squared norms of gradients over few and over many samples: McCandlish et al.
2018, "An Empirical Model of Large-Batch Training", appendix A.1."""

import collections
import math

_RECENT = 64  # estimates that count; older ones are dropped, because the scale grows during training
_FEWEST = 4
_CLEAR = 2.0  # the mean squared gradient must exceed this many of its standard errors
# A scale below this share of the few samples is a rounding error, because both norms are of the same samples
_EQUAL = 1e-4


class NoiseEstimate:
    def __init__(self):
        self._noise = collections.deque(maxlen=_RECENT)  # trace of the covariance of one sample's gradient
        self._gradient = collections.deque(maxlen=_RECENT)  # squared norm of the true gradient
        self._few = 0

    def add(self, few, norm_of_few, many, norm_of_many):
        """Adds norms of the mean gradient over `few` and over `many` samples, both in the same unit."""
        small, big = norm_of_few**2, norm_of_many**2
        if not (0 < few < many and math.isfinite(small) and math.isfinite(big)):
            return
        self._few = few
        self._noise.append((small - big) / (1.0 / few - 1.0 / many))
        self._gradient.append((many * big - few * small) / (many - few))

    def samples(self):
        """Returns the noise scale in samples; None while the gradient cannot be distinguished from its noise."""
        count = len(self._noise)
        if count < _FEWEST:
            return None
        noise, gradient = sum(self._noise) / count, sum(self._gradient) / count
        variance = sum((value - gradient) ** 2 for value in self._gradient) / (count - 1)
        if gradient <= _CLEAR * math.sqrt(variance / count) or noise <= _EQUAL * self._few * gradient:
            return None
        return noise / gradient
