# SPDX-License-Identifier: Apache-2.0
"""Lets ranks wait for each other at places at which they arrive at different times. A collective operation would wait
for ranks that never arrive (`if rank == 0: torch.save(...)`), or mix with the program's operations. Instead, each rank
writes a key to the store of the process group."""

import datetime

import torch

PATIENCE_S = 300.0  # of a trial, for a late rank
_LONGEST_S = 1800.0  # of a long run, for a late rank; also for an action of rank 0 once it has begun
_AT_ONCE_S = 1.0  # for the key of a rank that has already arrived


class Gathering:
    """`steps()`: optimizer steps so far, equal on all ranks. `give_up(why)` ends the process, in a long run later than
    in a trial."""

    def __init__(self, steps, give_up, is_long_run=False):
        from torch.distributed import distributed_c10d  # a PyTorch may be built without it

        self._steps = steps
        self._is_long_run = is_long_run
        self._give_up = give_up
        self._store = distributed_c10d._get_default_store()
        self._rank = torch.distributed.get_rank()
        self._others = [r for r in range(torch.distributed.get_world_size()) if r != self._rank]
        self._step = -1
        self._counts = {}  # number of gatherings by place, since that step

    def of_all(self, what, advice):
        """Waits until all ranks are here. `what` describes the action of the ranks, for people."""
        place = self._place(what)
        self._tell(place)
        self._expect(place, self._others, what, advice)

    def by_first(self, what, advice, act, when_all_are_here=False):
        """Rank 0 acts. The other ranks continue when rank 0 is done."""
        place = self._place(what)
        done = place + "/done"
        if self._rank > 0:
            self._tell(place)
            self._expect(place, [0], what, advice)
            self._wait([done], _LONGEST_S)
            return None
        if when_all_are_here:
            self._expect(place, self._others, what, advice)
        self._tell(place)
        try:
            return act()
        finally:
            self._store.set(done, "1")

    def _place(self, what):
        """Returns a name for the next place of this kind since the last step. The name is the same on all ranks."""
        step = self._steps()
        if step != self._step:
            self._step, self._counts = step, {}
        number = self._counts[what] = self._counts.get(what, 0) + 1
        return "steptune/%d/%s/%d" % (step, what, number)

    def _tell(self, place):
        try:
            self._store.set(_of_rank(place, self._rank), "1")
        except RuntimeError:
            pass  # as in _wait

    def _expect(self, place, ranks, what, advice):
        patience_s = _LONGEST_S if self._is_long_run else PATIENCE_S
        if self._wait([_of_rank(place, rank) for rank in ranks], patience_s):
            return
        # Check only up to the first absent rank. A late answer of the store could be mistaken for the next rank's
        # answer.
        absent = next((rank for rank in ranks if not self._wait([_of_rank(place, rank)], _AT_ONCE_S)), None)
        if absent is not None:
            self._give_up(
                "rank %d came to %s and rank %d did not, within %.0f s: the program does it on some ranks only; %s"
                % (self._rank, what, absent, patience_s, advice)
            )

    def _wait(self, keys, seconds):
        """Returns False on a timeout. Returns True if the store is gone: rank 0 has then ended and written all its
        files."""
        try:
            self._store.wait(keys, datetime.timedelta(seconds=seconds))
            return True
        except RuntimeError as error:
            return "timeout" not in str(error).lower()


def _of_rank(place, rank):
    return "%s/%d" % (place, rank)
