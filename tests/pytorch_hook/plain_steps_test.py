# SPDX-License-Identifier: Apache-2.0
"""Steps in which nothing is under way but a step: the hook does little in them, and tells the same."""

import atexit
import json
import os
import sys
import time
import unittest

from harness import HOOK, run, settings
from reports_test import replace_scalers

TICK_S = 1.0 / 1024
STRETCHED = [
    ("mnist", "30"), ("any_steps", "3"), ("any_steps", "4"), ("trainer_style", "--items", "600"),
    ("lightning_style", "--items", "600"), ("half_step",), ("like_loaders",), ("kept_batches", "cycle"), ("teacher",),
    ("inner_evaluation", "inner"),
]  # fmt: skip
SEEDS = 60
LINES_EVERY = (15, 1000)  # so many looks at the clock: ways to end a step are mixed; nearly all are short
PROGRAMS = [
    ("mnist", "6"), ("vae",), ("gan",), ("accumulation",), ("no_optimizer",), ("lbfgs",), ("scaler",),
    ("lightning_style",), ("trainer_style",), ("noise_scale",), ("teacher",), ("evaluation_mode",),
    ("kept_batches", "one"), ("kept_batches", "cycle"), ("kept_batches", "repeated"), ("kept_batches", "unseen"),
    ("kept_batches", "looked_at"), ("kept_batches", "long"), ("kept_batches", "persistent"),
    ("without_gradients", "teacher"), ("without_gradients", "look"), ("without_gradients", "evaluation"),
    ("inner_evaluation", "inner"), ("inner_evaluation", "copy"), ("collated", "lists"), ("collated", "sequences"),
    ("like_loaders",), ("iterable",), ("changing_data",), ("early_iterator",), ("batch_sampler",),
    ("batch_sampler", "second"), ("view_after_convolution",), ("own_forward",), ("settings",), ("half_step",),
    ("half_step", "ahead"),
]  # fmt: skip


def prepare_clock():
    """Each look at the clock is a moment after the one before: times tell how often it was looked at."""
    replace_scalers()
    now_s = 1.0

    def perf_counter():
        nonlocal now_s
        now_s += TICK_S
        return now_s

    time.perf_counter = perf_counter


def watch_all_steps():
    from steptune_pytorch.quiet import Quiet

    Quiet.may_begin = lambda quiet, steps: False


def take_the_long_way():
    watch_all_steps()

    from steptune_pytorch.progress import Progress

    Progress.knows_program = lambda progress: None


def count_calls():
    """Prints how many functions of the hook were called from the end of each step to that of the next."""
    from steptune_pytorch.progress import Progress

    ours = os.path.join(HOOK, "steptune_pytorch") + os.sep
    calls = 0
    at_ends = []
    ends = [method.__code__ for method in (Progress.step_ended, Progress.plain_step_ended)]

    def profile(frame, event, _):
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.startswith(ours):
            calls += 1
            if frame.f_code in ends:
                at_ends.append(calls)

    def tell():
        sys.setprofile(None)
        print("calls", json.dumps([after - before for before, after in zip(at_ends, at_ends[1:])]))

    atexit.register(tell)
    sys.setprofile(profile)


class ShortWay(unittest.TestCase):
    def told(self, name, arguments, lines_every, prepare=None):
        asked = settings("survey", interval_s=lines_every * TICK_S)
        ran = run(name, *arguments, hook=asked, prepare=prepare, before_hook=prepare_clock)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def test_tells_what_the_long_way_tells(self):
        for name, *arguments in PROGRAMS:
            for lines_every in LINES_EVERY:
                with self.subTest(name, arguments=arguments, lines_every=lines_every):
                    self.check(name, arguments, lines_every)

    def test_tells_what_the_long_way_tells_of_steps_that_a_seed_draws(self):
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.check("any_steps", [str(seed)], LINES_EVERY[seed % 2])

    def check(self, name, arguments, lines_every):
        short = self.told(name, arguments, lines_every, watch_all_steps)
        long = self.told(name, arguments, lines_every, take_the_long_way)
        self.assertEqual(short.lines, long.lines)
        # Workers take their own time.
        self.assertEqual(self.without("queue", short.reports), self.without("queue", long.reports))
        self.assertEqual(self.without("pid", short.events), self.without("pid", long.events))

    def without(self, part, documents):
        return [{k: v for k, v in document.items() if part not in k} for document in documents]


class Stretches(unittest.TestCase):
    """Of short steps, in which only what PyTorch counts by itself is counted."""

    def told(self, name, arguments, interval_s, prepare=None):
        ran = run(name, *arguments, hook=settings("report", interval_s=interval_s), prepare=prepare)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def test_tell_what_is_true_of_each_step(self):
        for name, *arguments in STRETCHED:
            with self.subTest(name, arguments=arguments):
                stretched = self.told(name, arguments, 0.02, soon_quiet)
                all_steps = self.told(name, arguments, 0.0, watch_all_steps)
                self.assertEqual(
                    [line for line in stretched.lines if not line.startswith("stretches")],
                    all_steps.lines,
                )
                true = {step["step"]: step for step in all_steps.steps}
                for step in stretched.steps:
                    self.assertEqual(step["samples"], true[step["step"]]["samples"], step)
                    if "loss" in step:
                        self.assertEqual(step["loss"], true[step["step"]]["loss"], step)
                self.assertEqual(stretched.steps[-1]["step"], all_steps.steps[-1]["step"])
                self.assertEqual(
                    [p["phase"] for p in stretched.phases if p["phase"] != "epoch_end"],
                    [p["phase"] for p in all_steps.phases if p["phase"] != "epoch_end"],
                )

    def test_are_most_of_short_steps(self):
        ran = self.told("lightning_style", ["--items", "3000"], 0.02, soon_quiet)
        steps = int(next(line for line in ran.lines if line.startswith("stretches")).split()[1])
        self.assertGreater(steps, 300)  # of 600

    def test_batches_of_workers_are_counted(self):
        asked = settings("report", interval_s=0.02, knobs={"num_workers": 1})
        ran = run("lightning_style", "--items", "3000", hook=asked, prepare=soon_quiet)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertNotIn("stretches 0", ran.lines)
        self.assertEqual({step["samples"] - 10 * step["step"] for step in ran.steps}, {0})
        self.assertEqual(ran.steps[-1]["step"], 600)

    def test_parts_add_up_to_the_time_of_training(self):
        ran = self.told("lightning_style", ["--items", "3000"], 0.02, soon_quiet)
        first, last = ran.steps[0], ran.steps[-1]
        phases_s = sum(p.get("seconds", 0.0) for p in ran.phases if p["clock"] <= last["clock"])
        whole_s = last["clock"] - first["clock"] - phases_s
        parts_s = sum(last["parts"].values()) - sum(first["parts"].values())
        self.assertAlmostEqual(parts_s, whole_s, delta=0.02 * whole_s)

    def test_are_not_in_a_survey(self):
        ran = run("lightning_style", "--items", "3000", hook=settings("survey", interval_s=0.02), prepare=soon_quiet)
        self.assertIn("stretches 0", ran.lines)


def soon_quiet():
    """As in a program that has run for a while. Prints how many steps were in stretches."""
    from steptune_pytorch.quiet import Quiet

    counted = 0
    end = Quiet._end

    def count(quiet, *arguments):
        nonlocal counted
        counted += quiet.steps
        end(quiet, *arguments)

    Quiet._end = count
    atexit.register(lambda: print("stretches", counted))


class Calls(unittest.TestCase):
    def in_last_step(self, *prepare):
        def prepare_all():
            for one in (*prepare, count_calls):
                one()

        ran = run("mnist", "12", hook=settings(interval_s=1000), prepare=prepare_all)
        self.assertEqual(ran.status, 0, ran.output)
        line = next(line for line in ran.lines if line.startswith("calls "))
        return json.loads(line[len("calls ") :])[-1]

    def test_are_few(self):
        # The next batch and its samples, the forward, which takes it and knows its loader, the backward, the step
        # and its end.
        self.assertEqual(self.in_last_step(), 8)
        self.assertGreater(self.in_last_step(take_the_long_way), 30)


if __name__ == "__main__":
    unittest.main()
