# SPDX-License-Identifier: Apache-2.0
"""A neighbour on the machine: one or two processes. Each copies 32 MiB repeatedly for 1-6 s, then pauses for 1-6 s, and
so on."""
import multiprocessing
import random
import time

SIZE = 64 << 20


def _stream(seed):
    chance = random.Random(seed)
    source, target = bytearray(SIZE // 2), bytearray(SIZE // 2)
    while True:
        until = time.monotonic() + chance.uniform(1, 6)
        while time.monotonic() < until:
            target[:] = source
        time.sleep(chance.uniform(1, 6))


class Neighbour:
    """Runs during the `with` block. The seed decides how many processes there are, and when they pause."""

    def __init__(self, seed):
        count = random.Random(seed).choice((1, 2))
        self.processes = [multiprocessing.Process(target=_stream, args=(2 * seed + i,), daemon=True)
                          for i in range(count)]

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()
