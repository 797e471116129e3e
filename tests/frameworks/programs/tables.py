# SPDX-License-Identifier: Apache-2.0
"""Data for the programs: rows with numbers, and a target that depends on some of them."""

import numpy


def table(rows, columns=20):
    random = numpy.random.RandomState(7)
    x = random.rand(rows, columns).astype("float32")
    y = 3 * x[:, 0] + numpy.sin(9 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.1 * random.randn(rows)
    return x, y.astype("float32")
