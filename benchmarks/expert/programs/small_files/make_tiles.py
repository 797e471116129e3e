# SPDX-License-Identifier: Apache-2.0
"""Writes 2 400 files of 64 KiB with random bytes into tiles/."""
import os

os.makedirs("tiles", exist_ok=True)
for number in range(2400):
    with open(f"tiles/{number:05d}.bin", "wb") as tile:
        tile.write(os.urandom(1 << 16))
os.sync()
