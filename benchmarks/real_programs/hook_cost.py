#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of PyTorch's hook to a real program: microseconds of each step that are spent in the hook itself.

    OMP_NUM_THREADS=1 hook_cost.py [--steps 300] main.py --epochs 1

Run it in the program's folder with its interpreter. Runs the program with the hook, as in a trial, for --steps steps.
The hook replaces functions of PyTorch. The script measures the time in each replacement, without the time in PyTorch's
own function. Times are CPU time of the training thread, so other load on the machine hardly matters. Ignores the first
ten steps. Prints a row for README.md to stderr: the median time of a step, the hook's median time
for each step, and the hook's mean time for each step. The mean includes the lines that the hook prints, its surveys,
and its work in evaluations between steps.

The times include reading the clocks: four system calls for each measured function. With --empty, the replacements do
nothing, so their apparent time is the cost of the clocks.
"""
import argparse
import functools
import json
import os
import runpy
import statistics
import sys
from time import thread_time

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "trial_runner", "hooks", "python")
WARM_UP = 10


class Cost:
    """Times the hook's replacements of functions. `steps()` returns the number of steps that the program has made."""

    def __init__(self, most_steps, steps):
        self.spent_s = 0.0
        self.by_step = []  # (seconds in the hook, CPU seconds in all) at the end of each step
        self._inner_s = []
        self._most_steps = most_steps
        self._steps = steps

    def timed(self, make, original):
        @functools.wraps(original)
        def of_program(*arguments, **named):
            begin_s = thread_time()
            try:
                return original(*arguments, **named)
            finally:
                if self._inner_s:
                    self._inner_s[-1] += thread_time() - begin_s

        made = make(of_program)

        def of_hook(*arguments, **named):
            self._inner_s.append(0.0)
            begin_s = thread_time()
            try:
                return made(*arguments, **named)
            finally:
                self.spent_s += thread_time() - begin_s - self._inner_s.pop()
                if self._steps() != len(self.by_step):
                    self.by_step.append((self.spent_s, thread_time()))
                    if len(self.by_step) >= self._most_steps:
                        raise SystemExit

        return of_hook

    def row(self):
        steps = self.by_step[WARM_UP:]
        hook_us = [1e6 * (after[0] - before[0]) for before, after in zip(steps, steps[1:])]
        step_us = [1e6 * (after[1] - before[1]) for before, after in zip(steps, steps[1:])]
        cells = [f"{statistics.median(step_us) / 1000:.1f} ms"]
        for average in (statistics.median, statistics.mean):
            cells += [f"{average(hook_us):.0f} us", f"{100 * average(hook_us) / average(step_us):.2f} %"]
        return " | ".join(cells)


def under_hook(most_steps):
    from steptune_hook.patches import Patches
    from steptune_hook.pytorch import hook

    cost = Cost(most_steps, lambda: hook.installed.progress.steps)
    plain_replace = Patches.replace

    def replace(patches, owner, name, make):
        return plain_replace(patches, owner, name, lambda original: cost.timed(make, original))

    Patches.replace = replace
    hook.install()
    return cost


def under_nothing(most_steps):
    import torch
    from torch.utils.data import dataloader

    steps = 0
    cost = Cost(most_steps, lambda: steps)

    def empty(original):
        def calls(*arguments, **named):
            return original(*arguments, **named)

        return calls

    def counts(original):
        def step(*arguments, **named):
            nonlocal steps
            returned = original(*arguments, **named)
            steps += 1
            return returned

        return step

    def put(owner, name, make):
        setattr(owner, name, cost.timed(make, getattr(owner, name)))

    plain_call = torch.nn.Module.__call__
    plain_init = torch.optim.Optimizer.__init__

    def first_call(module, *arguments, **named):
        torch.nn.Module.__call__ = plain_call  # the module that is called first is assumed to be the outermost
        put(type(module), "__call__", empty)
        return type(module).__call__(module, *arguments, **named)

    def init(optimizer, *arguments, **named):
        plain_init(optimizer, *arguments, **named)
        if "of_hook" not in type(optimizer).step.__qualname__:
            put(type(optimizer), "step", counts)

    torch.nn.Module.__call__ = first_call
    torch.optim.Optimizer.__init__ = init
    put(dataloader._BaseDataLoaderIter, "__next__", empty)
    put(torch.autograd, "backward", empty)
    return cost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--empty", action="store_true", help="time functions that do nothing")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    os.environ["STEPTUNE_PYTHON"] = json.dumps({"v": 1, "mode": "report"})
    sys.path.append(HOOK)
    import torch  # noqa: F401

    cost = under_nothing(given.steps) if given.empty else under_hook(given.steps)
    sys.argv = [given.program, *given.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(given.program))
    try:
        runpy.run_path(given.program, run_name="__main__")
    except SystemExit:
        pass
    if len(cost.by_step) < WARM_UP + 3:
        sys.exit(f"{given.program}: {len(cost.by_step)} steps were seen; {WARM_UP + 3} are needed")
    folder, file = os.path.split(os.path.abspath(given.program))
    name = os.path.join(os.path.basename(folder), os.path.splitext(file)[0])
    print(f"| {name}{', clocks' if given.empty else ''} | {cost.row()} |", file=sys.stderr)


if __name__ == "__main__":
    main()
