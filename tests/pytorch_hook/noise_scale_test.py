# SPDX-License-Identifier: Apache-2.0
"""Tests the gradient noise scale of programs whose noise is known, and that none is reported if it cannot be known."""

import random
import sys
import unittest

from harness import HOOK, free_port, launch_environment, run, settings, start
from plain_steps_test import take_the_long_way

import torch  # as harness has set it up

sys.path.append(HOOK)
from steptune_hook.pytorch.noise_estimate import NoiseEstimate  # noqa: E402

NAME = "gradient_noise_scale"


def spare_no_time():
    from steptune_hook.pytorch import noise_looks

    noise_looks.MOST_SHARE = float("inf")


class Estimate(unittest.TestCase):
    def fed(self, scale, few, many, count=64, width=2000):
        """Adds norms of mean gradients: a true gradient of length 1, with noise of the given scale."""
        rng = random.Random(7)
        estimate = NoiseEstimate()
        for _ in range(count):
            norms = []
            for samples in (few, many):
                sigma = (scale / samples / width) ** 0.5
                mean = [rng.gauss(0.0, sigma) for _ in range(width)]
                mean[0] += 1.0
                norms.append(sum(value * value for value in mean) ** 0.5)
            estimate.add(few, norms[0], many, norms[1])
        return estimate.samples()

    def test_is_the_scale_that_the_noise_has(self):
        for scale, few, many in ((30.0, 4, 32), (500.0, 16, 64), (3.0, 1, 2)):
            self.assertAlmostEqual(self.fed(scale, few, many) / scale, 1.0, delta=0.15)

    def test_is_unknown_while_noise_hides_the_gradient(self):
        self.assertIsNone(self.fed(1e6, 4, 8))
        self.assertIsNone(self.fed(30.0, 4, 32, count=3))

    def test_is_unknown_where_both_are_of_the_same_samples(self):
        estimate = NoiseEstimate()
        for look in range(10):
            estimate.add(4, 1.0 + 1e-7 * look, 8, 1.0)
        self.assertIsNone(estimate.samples())

    def test_what_is_not_finite_counts_for_nothing(self):
        estimate = NoiseEstimate()
        for norm in (float("inf"), float("nan")):
            for _ in range(5):
                estimate.add(4, norm, 8, 1.0)
        self.assertIsNone(estimate.samples())


class MicroBatchNoise(unittest.TestCase):
    def reported(self, *arguments, **keys):
        requested = settings(interval_s=0, **keys)
        ran = run("noise_scale", *arguments, hook=requested, prepare=spare_no_time)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.lines, run("noise_scale", *arguments).lines)
        return ran.steps[-1].get(NAME)

    def test_is_that_of_the_program(self):
        for how in ("plain", "sum", "set to zero", "complex"):
            self.assertAlmostEqual(self.reported(how), 1.0, delta=0.1, msg=how)

    def test_counts_samples_as_they_are_given(self):
        # The program is configured as if each row were ten samples.
        self.assertAlmostEqual(self.reported(samples_per_step=320), 10.0, delta=1.0)

    def test_nothing_where_it_cannot_be_known(self):
        for how in ("never zeroed", "two losses", "sizes", "clipped one by one", "zeroed one by one"):
            self.assertIsNone(self.reported(how), how)
        self.assertIsNone(self.reported("two losses", samples_per_step=320))

    def test_nothing_without_micro_batches(self):
        for name in ("mnist", "gan", "lbfgs", "no_optimizer"):
            ran = run(name, hook=settings(interval_s=0), prepare=spare_no_time)
            self.assertTrue(ran.steps, ran.output)
            self.assertFalse([r for r in ran.steps if NAME in r], name)

    def test_takes_no_more_than_its_share_of_the_time(self):
        def never():
            from steptune_hook.pytorch import noise_looks

            noise_looks.MOST_SHARE = 0.0

        ran = run("noise_scale", hook=settings(interval_s=0), prepare=never)
        self.assertNotIn(NAME, ran.steps[-1])

    def test_not_looked_at_where_no_line_is_printed(self):
        def fail():
            from steptune_hook.pytorch import gradients

            gradients.of = None

        self.assertEqual(run("noise_scale", hook=settings("apply"), prepare=fail).lines, run("noise_scale").lines)

    def test_ranks(self):
        for how in ("no_sync", "sync"):
            self.assertAlmostEqual(reported_by_ranks(self, "ddp_noise_scale", how), 1.0, delta=0.25, msg=how)


def both():
    spare_no_time()
    take_the_long_way()


def run_ranks(name, how, hook=None, prepare=spare_no_time):
    port = free_port()
    started = [
        start(name, how, hook=hook, prepare=prepare, environment=launch_environment(rank, 2, port)) for rank in range(2)
    ]
    return [rank.wait() for rank in started]


def of_program(ran):
    """Returns the lines without PyTorch's log, which has the time of day."""
    return [line for line in ran.lines if line.startswith(("loss", "as asked"))]


def reported_by_ranks(test, name, how, compares=True, **keys):
    """Returns the first rank's last scale. `compares`: also compares the output with runs without the hook."""
    ranks = run_ranks(name, how, settings(**dict({"interval_s": 0}, **keys)))
    for ran in ranks:
        test.assertEqual(ran.status, 0, ran.output)
        test.assertIsNone(ran.event("disabled"), ran.output)
    if compares:
        test.assertEqual(*([of_program(ran) for ran in each] for each in (ranks, run_ranks(name, how))))
    test.assertNotIn(NAME, ranks[1].steps[-1])
    return ranks[0].steps[-1].get(NAME)


class RankNoise(unittest.TestCase):
    """Tests ranks that do not accumulate gradients."""

    def reported(self, how, **keys):
        return reported_by_ranks(self, "rank_noise_scale", how, **keys)

    def test_is_that_of_the_program(self):
        for how in ("plain", "zeros", "views", "static", "twice", "scaled", "own hook", "last"):
            self.assertAlmostEqual(self.reported(how), 4.0, delta=1.0, msg=how)

    def test_knows_parameters_that_only_other_ranks_use(self):
        self.assertAlmostEqual(self.reported("unused"), 5.6, delta=1.0)

    def test_is_known_where_the_hook_makes_the_program_a_distributed_one(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "ddp"})
        ranks = run_ranks("rank_noise_scale", "alone", hook)
        self.assertAlmostEqual(ranks[0].steps[-1][NAME], 4.0, delta=1.0)

    @unittest.skipUnless(hasattr(torch, "compile"), "PyTorch 1.13")
    def test_compiled_modules_are_not_compiled_anew(self):
        for how in ("compiled", "compiled with ranks"):
            self.assertAlmostEqual(self.reported(how), 4.0, delta=1.0, msg=how)

    def test_plain_steps_miss_no_look(self):
        hook = settings(interval_s=1000)
        reported = [run_ranks("rank_noise_scale", "network", hook, prepare)[0] for prepare in (spare_no_time, both)]
        self.assertEqual(reported[0].steps[-1][NAME], reported[1].steps[-1][NAME])

    def test_is_that_of_its_micro_batches(self):
        micro_batches = run("rank_noise_scale", "micro_batches", hook=settings(interval_s=0), prepare=spare_no_time)
        of_micro_batches = micro_batches.steps[-1][NAME]
        self.assertAlmostEqual(self.reported("network") / of_micro_batches, 1.0, delta=1e-4)

    def test_counts_samples_as_they_are_given(self):
        self.assertAlmostEqual(self.reported("plain", samples_per_step=80), 40.0, delta=10.0)

    def test_nothing_where_it_cannot_be_known(self):
        unknown = ("never zeroed", "two losses", "sizes", "same", "own parameter", "compressed", "checkpoints", "raises")
        for how in unknown:
            self.assertIsNone(self.reported(how, compares=how == "raises"), how)


if __name__ == "__main__":
    unittest.main()
