#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's hook costs a real program: microseconds of each step that are spent in the hook itself.

    OMP_NUM_THREADS=1 hook_cost.py [--steps 300] main.py --epochs 1

Runs the program under the hook as a trial runs it, in the program's folder and with the interpreter that it takes, until it has
made --steps steps. Each function that the hook has put in the place of one of PyTorch's is timed, without that one's own time:
what is left is the hook's, and a microsecond or two of these clocks. Prints a row for docs/hooks.md on stderr, of the steps from
the tenth on: the median step, the hook in the median step, the hook in all of them (with the lines that it prints), and its share.
"""
import argparse
import functools
import json
import os
import runpy
import statistics
import sys
from time import perf_counter

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "trial_runner", "hooks", "pytorch")
WARM_UP = 10


class Cost:
    def __init__(self):
        self.spent_s = 0.0
        self._inner_s = []
        self.by_step = []  # (seconds spent in the hook, time of day) at the end of each

    def watch(self, patches, hook_module, steps):
        plain_replace = patches.replace

        def replace(instance, owner, name, make):
            return plain_replace(instance, owner, name, lambda original: self._timed(make, original))

        patches.replace = replace
        plain_on_step = hook_module.Hook._on_step

        def on_step(hook, progress):
            plain_on_step(hook, progress)
            self.by_step.append((self.spent_s, perf_counter()))
            if progress.steps >= steps:
                raise SystemExit

        hook_module.Hook._on_step = on_step

    def _timed(self, make, original):
        @functools.wraps(original)
        def of_program(*arguments, **named):
            begin_s = perf_counter()
            try:
                return original(*arguments, **named)
            finally:
                if self._inner_s:
                    self._inner_s[-1] += perf_counter() - begin_s

        made = make(of_program)

        def of_hook(*arguments, **named):
            self._inner_s.append(0.0)
            begin_s = perf_counter()
            try:
                return made(*arguments, **named)
            finally:
                self.spent_s += perf_counter() - begin_s - self._inner_s.pop()

        return of_hook

    def row(self):
        steps = self.by_step[WARM_UP:]
        hook_us = [1e6 * (after[0] - before[0]) for before, after in zip(steps, steps[1:])]
        step_us = [1e6 * (after[1] - before[1]) for before, after in zip(steps, steps[1:])]
        return statistics.median(step_us), statistics.median(hook_us), statistics.mean(hook_us)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    os.environ["STEPTUNE_PYTORCH"] = json.dumps({"v": 1, "mode": "report"})
    sys.path.append(HOOK)
    import torch  # noqa: F401
    from steptune_pytorch import hook
    from steptune_pytorch.patches import Patches

    cost = Cost()
    cost.watch(Patches, hook, given.steps)
    hook.install()
    sys.argv = [given.program, *given.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(given.program))
    try:
        runpy.run_path(given.program, run_name="__main__")
    except SystemExit:
        pass
    if len(cost.by_step) < WARM_UP + 3:
        sys.exit(f"{given.program}: {len(cost.by_step)} steps were seen; {WARM_UP + 3} are needed")
    step_us, hook_us, mean_us = cost.row()
    folder, file = os.path.split(os.path.abspath(given.program))
    name = os.path.join(os.path.basename(folder), os.path.splitext(file)[0])
    print(f"| {name} | {step_us / 1000:.1f} ms | {hook_us:.0f} us | {mean_us:.0f} us | {100 * hook_us / step_us:.2f} % |", file=sys.stderr)


if __name__ == "__main__":
    main()
