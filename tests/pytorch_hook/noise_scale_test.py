# SPDX-License-Identifier: Apache-2.0
"""The gradient noise scale: of programs whose noise is known, and nothing where it cannot be known."""

import random
import sys
import unittest

from harness import HOOK, free_port, launch_environment, run, settings, start

sys.path.append(HOOK)
from steptune_pytorch.noise_estimate import NoiseEstimate  # noqa: E402

NAME = "gradient_noise_scale"


def spare_no_time():
    from steptune_pytorch import micro_batches

    micro_batches.MOST_SHARE = float("inf")


class Estimate(unittest.TestCase):
    def fed(self, scale, few, many, count=64, width=2000):
        """Norms of mean gradients of a true gradient of length 1, with noise of that scale."""
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

    def test_what_is_not_finite_counts_for_nothing(self):
        estimate = NoiseEstimate()
        for norm in (float("inf"), float("nan")):
            for _ in range(5):
                estimate.add(4, norm, 8, 1.0)
        self.assertIsNone(estimate.samples())


class MicroBatchNoise(unittest.TestCase):
    def told(self, *arguments, **keys):
        asked = settings(interval_s=0, **keys)
        ran = run("noise_scale", *arguments, hook=asked, prepare=spare_no_time)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.lines, run("noise_scale", *arguments).lines)
        return ran.steps[-1].get(NAME)

    def test_is_that_of_the_program(self):
        for how in ("plain", "sum", "set to zero", "complex"):
            self.assertAlmostEqual(self.told(how), 1.0, delta=0.1, msg=how)

    def test_counts_samples_as_they_are_given(self):
        # Each row is told to be ten samples.
        self.assertAlmostEqual(self.told(samples_per_step=320), 10.0, delta=1.0)

    def test_nothing_where_it_cannot_be_known(self):
        for how in ("never zeroed", "two losses", "sizes", "clipped one by one", "zeroed one by one"):
            self.assertIsNone(self.told(how), how)
        self.assertIsNone(self.told("two losses", samples_per_step=320))

    def test_nothing_without_micro_batches(self):
        for name in ("mnist", "gan", "lbfgs", "no_optimizer"):
            ran = run(name, hook=settings(interval_s=0), prepare=spare_no_time)
            self.assertFalse([r for r in ran.steps if NAME in r], name)

    def test_takes_no_more_than_its_share_of_the_time(self):
        def never():
            from steptune_pytorch import micro_batches

            micro_batches.MOST_SHARE = 0.0

        ran = run("noise_scale", hook=settings(interval_s=0), prepare=never)
        self.assertNotIn(NAME, ran.steps[-1])

    def test_not_looked_at_where_no_line_is_printed(self):
        def fail():
            from steptune_pytorch import gradients

            gradients.of = None

        self.assertEqual(run("noise_scale", hook=settings("apply"), prepare=fail).lines, run("noise_scale").lines)

    def ranks(self, how, hook=None):
        port = free_port()
        started = [
            start("ddp_noise_scale", how, hook=hook, prepare=spare_no_time, environment=launch_environment(rank, 2, port))
            for rank in range(2)
        ]
        return [rank.wait() for rank in started]

    def test_ranks(self):
        for how in ("no_sync", "sync"):
            ranks = self.ranks(how, settings(interval_s=0))
            for ran, untouched in zip(ranks, self.ranks(how)):
                self.assertEqual(ran.status, 0, ran.output)
                self.assertEqual(ran.lines, untouched.lines)
            self.assertAlmostEqual(ranks[0].steps[-1][NAME], 1.0, delta=0.25, msg=how)


if __name__ == "__main__":
    unittest.main()
