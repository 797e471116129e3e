#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's hook adds to a step of a program: the same process with it and without, in turns.

    OMP_NUM_THREADS=1 by_turns.py [--steps 20000] [--turn 100] [--mode report] main.py --epochs 1000

Runs the program under the hook as a trial runs it, in its folder, until it has made --steps steps. After --warm-up of
them the functions that the hook has put in the place of PyTorch's are taken out for --turn steps, put in again for as
many, and so on (A B B A). The first steps of a turn do not count, nor does one that an evaluation is in. Times are CPU
time of the thread that trains, so that other load on the machine counts for what it does to the caches only. Prints a row
on stderr: a step without the hook, and what the hook adds, as the mean difference of neighbouring turns with its 95 %
interval. Lines that it prints are in it, as many as a trial prints in that time: on a machine that others use too many,
since a trial prints four a second of the clock on the wall.
"""
import argparse
import functools
import json
import math
import os
import runpy
import statistics
import sys
from time import perf_counter, thread_time

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "trial_runner", "hooks", "pytorch")
IN_EACH_STEP = ("__call__", "__next__", "backward", "step")
DROPPED = 4  # of a turn: the interpreter's caches of the classes are emptied when what they have is exchanged
MOST_OF_MEDIAN = 3


class Turns:
    """Times steps, and takes the hook's functions out of each second turn."""

    def __init__(self, warm_up, turn, most_steps):
        self.is_in = True
        self.turns = []  # (with the hook, mean seconds of a step)
        self.hook = None
        self._steps = 0
        self._warm_up = warm_up
        self._turn = turn
        self._most_steps = most_steps
        self._taken_out = []
        self._out_since_s = 0.0
        self._begin_s = 0.0
        self._of_turn = []

    def time_steps_of(self, optimizer_class):
        original = optimizer_class.step
        if hasattr(original, "of_turns"):
            return

        @functools.wraps(original)
        def step(*arguments, **named):
            returned = original(*arguments, **named)
            self._ended()
            return returned

        step.of_turns = True
        optimizer_class.step = step

    def _ended(self):
        now_s = thread_time()
        self._of_turn.append(now_s - self._begin_s)
        self._steps += 1
        if self._steps >= self._most_steps:
            raise SystemExit
        if self._steps >= self._warm_up and len(self._of_turn) >= self._turn:
            if self._steps > self._warm_up + self._turn:
                self.turns.append((self.is_in, _mean(self._of_turn[DROPPED:])))
            self._of_turn = []
            goes_in = len(self.turns) % 4 in (0, 3)
            if goes_in and not self.is_in:
                # What happened without the hook did not happen: no line is due earlier.
                self.hook.progress.report.due_s += perf_counter() - self._out_since_s
                self.hook.patches.put_in(self._taken_out)
            elif self.is_in and not goes_in:
                self._out_since_s = perf_counter()
                self.hook.quiet.leave()
                places = {entry[:2] for entry in self.hook.patches._replaced if entry[1] in IN_EACH_STEP}
                self._taken_out = self.hook.patches.take_out(places)
            self.is_in = goes_in
        self._begin_s = thread_time()

    def row(self):
        pairs = list(zip(self.turns[::2], self.turns[1::2]))
        differences_us = [1e6 * (a[1] - b[1] if a[0] else b[1] - a[1]) for a, b in pairs if a[0] != b[0]]
        without_us = 1e6 * statistics.fmean(s for is_in, s in self.turns if not is_in)
        # Without the most extreme twentieth on each side, which the machine has disturbed.
        differences_us.sort()
        cut = len(differences_us) // 20
        kept = differences_us[cut : len(differences_us) - cut] if cut else differences_us
        mean_us = statistics.fmean(kept)
        half_us = 1.96 * statistics.stdev(kept) / math.sqrt(len(kept))
        return "%.0f us a step; the hook adds %.1f +-%.1f us, %.2f +-%.2f %% (%d pairs of turns)" % (
            without_us, mean_us, half_us, 100 * mean_us / without_us, 100 * half_us / without_us, len(kept),
        )  # fmt: skip


def _mean(steps_s):
    """Of training: without those that an evaluation or the beginning of an epoch is in."""
    most_s = MOST_OF_MEDIAN * statistics.median(steps_s)
    return statistics.fmean(step_s for step_s in steps_s if step_s < most_s)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--warm-up", type=int, default=200)
    parser.add_argument("--turn", type=int, default=100)
    parser.add_argument("--mode", default="report", choices=("report", "apply"))
    parser.add_argument("--hook", default=HOOK, help="the folder of another version")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    os.environ["STEPTUNE_PYTORCH"] = json.dumps({"v": 1, "mode": given.mode})
    sys.path.append(given.hook)
    import torch

    from steptune_pytorch import hook

    turns = Turns(given.warm_up, given.turn, given.steps)
    plain_init = torch.optim.Optimizer.__init__

    def init(optimizer, *arguments, **named):
        plain_init(optimizer, *arguments, **named)
        turns.time_steps_of(type(optimizer))

    torch.optim.Optimizer.__init__ = init
    hook.install()
    turns.hook = hook.installed
    sys.argv = [given.program, *given.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(given.program))
    output = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        runpy.run_path(given.program, run_name="__main__")
    except SystemExit:
        pass
    os.dup2(output, 1)
    if len(turns.turns) < 8:
        sys.exit("%s: too few steps were seen" % given.program)
    sys.stderr.write("%s: %s\n" % (os.path.basename(given.program), turns.row()))


if __name__ == "__main__":
    main()
