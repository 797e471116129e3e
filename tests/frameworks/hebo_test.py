# SPDX-License-Identifier: Apache-2.0
"""Plays HEBO, whose old packages need a separate environment."""

import unittest

from peers_test import Peers  # noqa: F401

if __name__ == "__main__":
    unittest.main()
