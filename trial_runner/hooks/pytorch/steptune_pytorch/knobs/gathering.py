# SPDX-License-Identifier: Apache-2.0
"""Places in the program that its ranks come to one by one. A collective would wait there for ranks
that never come (`if rank == 0: torch.save(...)`), or take part in another one of theirs; what the
ranks leave in the store that they met by says who came."""

import datetime

import torch

PATIENCE_S = 300.0  # of a trial, with a rank that is late
_LONGEST_S = 1800.0  # of a long run with it, and of what all wait for, once it has begun
_AT_ONCE_S = 1.0


class Gathering:
    """`steps()`: of the optimizer, so far, which are the same on all ranks. `give_up(why)` ends the
    process, which a long run takes longer to come to than a trial."""

    def __init__(self, steps, give_up, is_long_run=False):
        from torch.distributed import distributed_c10d  # a PyTorch may be built without

        self._steps = steps
        self._is_long_run = is_long_run
        self._give_up = give_up
        self._store = distributed_c10d._get_default_store()
        self._rank = torch.distributed.get_rank()
        self._others = [r for r in range(torch.distributed.get_world_size()) if r != self._rank]
        self._step = -1
        self._counts = {}  # of places since that step

    def of_all(self, what, advice):
        """Goes on once all ranks are here. `what` they do, for people."""
        place = self._place(what)
        self._tell(place)
        self._expect(place, self._others, what, advice)

    def by_first(self, what, advice, act, when_all_are_here=False):
        """Rank 0 acts, and the others go on when it is done."""
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
        """Of the next one of its kind since the step: the same on all ranks that come to it."""
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
        # The first one, and no further: a store's late answer about it would be taken for the next one's.
        absent = next((rank for rank in ranks if not self._wait([_of_rank(place, rank)], _AT_ONCE_S)), None)
        if absent is not None:
            self._give_up(
                "rank %d came to %s and rank %d did not, within %.0f s: the program does it on some ranks only; %s"
                % (self._rank, what, absent, patience_s, advice)
            )

    def _wait(self, keys, seconds):
        """False if it took too long. A store that is gone went with rank 0, which has ended: what it had
        to write, it has written."""
        try:
            self._store.wait(keys, datetime.timedelta(seconds=seconds))
            return True
        except RuntimeError as error:
            return "timeout" not in str(error).lower()


def _of_rank(place, rank):
    return "%s/%d" % (place, rank)
