# SPDX-License-Identifier: Apache-2.0
"""Tests plain steps. Once the hook knows how a program trains, it takes a short way through a step, with few calls. The
reports must be those of the long way."""

import atexit
import json
import os
import sys
import time
import unittest

from harness import HOOK, run, settings
from live_test import Tuner, switch
from reports_test import replace_scalers

TICK_S = 1.0 / 1024
SEEDS = 40
# Fake seconds between lines: with 15, plain and other ends of steps alternate; with 1000, nearly all steps are plain.
LINES_EVERY = (15, 1000)
PROGRAMS = [
    ("mnist", "6"), ("vae",), ("gan",), ("accumulation",), ("no_optimizer",), ("lbfgs",), ("scaler",),
    ("lightning_style",), ("trainer_style",), ("accelerate_style",), ("noise_scale",), ("teacher",),
    ("evaluation_mode",),
    ("kept_batches", "one"), ("kept_batches", "cycle"), ("kept_batches", "repeated"), ("kept_batches", "unseen"),
    ("kept_batches", "looked_at"), ("kept_batches", "long"), ("kept_batches", "persistent"),
    ("without_gradients", "teacher"), ("without_gradients", "look"), ("without_gradients", "evaluation"),
    ("inner_evaluation", "inner"), ("inner_evaluation", "copy"), ("collated", "lists"), ("collated", "sequences"),
    ("like_loaders",), ("iterable",), ("changing_data",), ("early_iterator",), ("batch_sampler",),
    ("batch_sampler", "second"), ("view_after_convolution",), ("own_forward",), ("settings",), ("half_step",),
    ("half_step", "ahead"), ("actor_critic",), ("first_evaluation",),
    ("inner_evaluation", "average"),
    *[("fetched_ahead", way) for way in ("endless", "accumulate", "broken", "limited", "two_models")],
    *[("step_fetched_ahead", way) for way in ("usual", "single", "joined")],
    *[("fetched_ahead", way) for way in ("pairs", "both", "listed", "tasks")], ("augmented",),
    ("step_in_backward", "caller"), ("looked_at", "peek"), ("odd_batches", "given"), ("safetensors_style",),
]  # fmt: skip


def prepare_clock():
    """Replaces the clock: each reading is a moment after the previous one, so times count the readings."""
    replace_scalers()
    now_s = 1.0

    def perf_counter():
        nonlocal now_s
        now_s += TICK_S
        return now_s

    time.perf_counter = perf_counter


def take_the_long_way():
    from steptune_hook.pytorch.progress import Progress

    Progress.knows_program = lambda progress: None


def count_calls():
    """Prints how many functions of the hook were called from the end of each step to the end of the next."""
    from steptune_hook.pytorch.progress import Progress

    ours = os.path.join(HOOK, "steptune_hook") + os.sep
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
    def reported(self, name, arguments, lines_every, prepare=None):
        requested = settings("survey", interval_s=lines_every * TICK_S)
        ran = run(name, *arguments, hook=requested, prepare=prepare, before_hook=prepare_clock)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def test_reports_are_those_of_the_long_way(self):
        for name, *arguments in PROGRAMS:
            for lines_every in LINES_EVERY:
                with self.subTest(name, arguments=arguments, lines_every=lines_every):
                    self.check(name, arguments, lines_every)

    def test_reports_of_random_steps_are_those_of_the_long_way(self):
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.check("any_steps", [str(seed)], LINES_EVERY[seed % 2])

    def check(self, name, arguments, lines_every):
        short = self.reported(name, arguments, lines_every)
        long = self.reported(name, arguments, lines_every, take_the_long_way)
        self.assertEqual(short.lines, long.lines)
        # Workers, the kernel and the garbage collector use the real clock.
        own_time = ("queue", "gc_share", "kernel_share")
        self.assertEqual(self.without(own_time, short.reports), self.without(own_time, long.reports))
        self.assertEqual(self.without(["pid"], short.events), self.without(["pid"], long.events))

    def without(self, parts, documents):
        return [{k: v for k, v in document.items() if not any(part in k for part in parts)} for document in documents]


class ManySteps(unittest.TestCase):
    """Tests programs that continue for long after the hook has learnt how they train."""

    def reported(self, *what, mode="report", **keys):
        ran = run("many_steps", *what, hook=settings(mode, **keys))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def test_are_counted_to_the_end(self):
        for what in ("tensors", "filtered", "own_gradients", "own_step", "scheduler", "profiled"):
            with self.subTest(what):
                if what == "profiled" and run("many_steps", what).status != 0:
                    continue  # Debian's PyTorch 2.6 crashes in its own profiler
                ran = self.reported(what, interval_s=0.02)
                steps, samples = map(int, ran.lines[-1].split()[:2])
                self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (steps, samples))

    def test_keep_their_settings_to_the_end(self):
        for mode, keys in (("report", {"interval_s": 0.02}), ("apply", {})):
            with self.subTest(mode):
                ran = self.reported(mode=mode, knobs={"precision": "bf16"}, **keys)
                self.assertTrue(ran.lines[-1].endswith("{'torch.bfloat16': 600}"), ran.lines[-1])


class Calls(unittest.TestCase):
    def in_last_step(self, *prepare, hook=settings(interval_s=1000)):
        def prepare_all():
            for one in (*prepare, count_calls):
                one()

        ran = run("mnist", "12", hook=hook, prepare=prepare_all)
        self.assertEqual(ran.status, 0, ran.output)
        line = next(line for line in ran.lines if line.startswith("calls "))
        return json.loads(line[len("calls ") :])[-1]

    def test_are_few(self):
        # Eight calls: the next batch and its samples; the forward, which takes the batch and finds its loader; the
        # backward; the step and its end.
        self.assertEqual(self.in_last_step(), 8)
        self.assertGreater(self.in_last_step(take_the_long_way), 30)

    def test_are_few_when_live_trials_are_over(self):
        tuner = Tuner([switch(5, 0, last=True)])
        # More than eight calls, since live trials read batches through a pass that can be switched.
        self.assertIn(self.in_last_step(hook=settings("live", channel=tuner.path)), range(8, 24))
        self.assertEqual(tuner.messages()[-1]["step"], 4)


if __name__ == "__main__":
    unittest.main()
