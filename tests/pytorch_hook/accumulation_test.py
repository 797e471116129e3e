# SPDX-License-Identifier: Apache-2.0
"""Gradients of several batches for a step, in programs that make one for each: what they train, what is told of them, and
where they are left as they are."""

import re
import unittest

from harness import free_port, launch_environment, run, settings, start

NAME = "gradient_accumulation"


def knobs(batches, mode="report", **keys):
    return settings(mode, interval_s=0, knobs={NAME: batches}, **keys)


class Accumulation(unittest.TestCase):
    def accumulated(self, *ways, program="each_batch", batches=4, prepare=None, **keys):
        ran = run(program, *ways, hook=knobs(batches, **keys), prepare=prepare)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def in_force(self, ran, batches):
        row = ran.knob(NAME)
        self.assertEqual((row["today"], row["value"], row["may"]), (1, batches, True), row)


class ByHand(Accumulation):
    """To the last bit where the number of batches is a power of two."""

    def test_is_the_loop_that_accumulates_by_hand(self):
        for ways in (
            "",
            "before",
            "by_model",
            "to_zero",
            "clipped",
            "before clipped",
            "by_value before",
            "scheduled clipped",
            "adam",
            "adam before clipped scheduled",
            "evaluated",
            "closure",
            "closure clipped scheduled",
            "seeded",
            "dropped",
            "dropped before",
        ):
            with self.subTest(ways):
                ways = ways.split()
                ran = self.accumulated(*ways)
                self.assertEqual(_without_norms(ran), run("each_batch", *ways, "4").lines)
                self.assertNotEqual(_without_norms(ran), _without_norms(run("each_batch", *ways)))
                self.in_force(ran, 4)

    def test_batches_that_are_left_over_wait_for_the_next_epoch(self):
        ran = self.accumulated(batches=8)  # 12 an epoch
        self.assertEqual(ran.lines, run("each_batch", "8").lines)
        self.assertEqual(ran.steps[-1]["step"], 24 // 8)

    def test_other_numbers_of_batches_are_equal_up_to_rounding(self):
        ran, by_hand = self.accumulated(batches=3), run("each_batch", "3")
        for of_hook, of_hand in zip(ran.lines[:-1], by_hand.lines[:-1]):
            self.assertAlmostEqual(float(of_hook.split()[1]), float(of_hand.split()[1]), places=5)

    def test_a_norm_that_is_printed_is_that_of_the_gradients_so_far(self):
        ran = self.accumulated("clipped")
        norms = [float(number) for number in re.findall(r"[\d.]+", next(l for l in ran.lines if "norms" in l))]
        untouched = run("each_batch", "clipped").output
        first = float(re.search(r"norms \[([\d.]+)", untouched).group(1))
        self.assertAlmostEqual(norms[0], first / 4, places=5)
        self.assertEqual(len(norms), 24)

    def test_a_schedule_warns_of_nothing(self):
        ran = self.accumulated("scheduled", "warned")
        self.assertNotIn("Warning", ran.output)

    def test_the_long_run_has_it_too(self):
        ran = run("each_batch", hook=settings("apply", knobs={NAME: 4}))
        self.assertEqual(ran.lines, run("each_batch", "4").lines)

    def test_programs_in_the_style_of_lightning(self):
        ran = self.accumulated(program="lightning_style", batches=2)
        self.in_force(ran, 2)
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (6, 120))


def _without_norms(ran):
    return [line for line in ran.lines if not line.startswith("norms")]


class Reported(Accumulation):
    def test_a_step_is_one_of_the_optimizer_with_all_its_samples(self):
        for ways in ("", "before", "closure", "evaluated"):
            ran = self.accumulated(*ways.split())
            last = ran.steps[-1]
            self.assertEqual((last["step"], last["samples"]), (6, 192), ways)
            losses = [float(line.split()[1]) for line in ran.lines if line.startswith("loss")][20:24]
            self.assertAlmostEqual(last["loss"], sum(losses) / 4, places=6)
            self.assertEqual(ran.event("program")["backwards_per_step"], 4)

    def test_samples_that_the_user_tells_are_those_of_a_step(self):
        ran = self.accumulated(samples_per_step=100)
        self.assertEqual(ran.steps[-1]["samples"], 600)

    def test_plain_steps_are_counted_as_others_are(self):
        ran = self.accumulated(program="many_steps")
        self.in_force(ran, 4)
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (150, 6000))

    def test_the_gradient_noise_scale_is_that_of_the_same_by_hand(self):
        def spare_no_time():
            from steptune_pytorch import noise_looks

            noise_looks.MOST_SHARE = float("inf")

        def scales(ran):
            return [round(step["gradient_noise_scale"], 6) for step in ran.steps if "gradient_noise_scale" in step]

        by_hand = run("noisy_batches", "4", hook=settings(interval_s=0), prepare=spare_no_time)
        ran = self.accumulated(program="noisy_batches", prepare=spare_no_time)
        self.assertTrue(scales(ran), ran.output)
        self.assertEqual(scales(ran), scales(by_hand))

    def test_today_is_told(self):
        row = run("each_batch", hook=settings("survey")).knob(NAME)
        self.assertEqual((row["today"], row["may"]), (1, True), row)
        self.assertTrue(row["where"][0].endswith(" SGD"), row)
        row = run("each_batch", "4", hook=settings("survey")).knob(NAME)
        self.assertEqual((row["today"], row["may"]), (4, False))
        self.assertIn("the program accumulates itself", row["why"])
        for name, why in (("gan", "several optimizers"), ("lbfgs", "LBFGS"), ("no_optimizer", "no optimizer")):
            row = run(name, hook=settings("survey")).knob(NAME)
            self.assertFalse(row["may"], row)
            self.assertIn(why, row["why"])


class Refused(Accumulation):
    def refused(self, *ways, program="each_batch", **keys):
        ran = self.accumulated(*ways, program=program, **keys)
        row = ran.knob(NAME)
        self.assertFalse(row["may"], row)
        self.assertNotEqual(row["value"], keys.get("batches", 4))
        return ran, row["why"]

    def test_programs_that_step_in_another_way_are_left_as_they_are(self):
        for name, ways, why in (
            ("each_batch", ["4"], "accumulates itself"),
            ("each_batch", ["twice", "clipped"], "several losses"),
            ("accumulation", [], "accumulates itself"),
            ("trainer_style", [], "accumulates itself"),
            ("many_steps", ["own_gradients"], "no backward is seen before a step"),
            ("lbfgs", [], "LBFGS may call its closure several times a step"),
            ("gan", [], "several optimizers make steps"),
            ("no_optimizer", [], "no optimizer makes steps"),
            ("scaler", [], "accumulates itself"),
            ("step_in_backward", ["caller"], "several optimizers make steps"),
        ):
            with self.subTest(name=name, ways=ways):
                ran, told = self.refused(*ways, program=name)
                self.assertIn(why, told)
                self.assertEqual(ran.lines, run(name, *ways).lines)

    def test_a_scaler_that_scales(self):
        def tell():
            """As where there is a GPU, before the first backward."""
            from steptune_pytorch import hook

            hook.installed.knobs.accumulation.scales_loss()

        ran = self.accumulated(prepare=tell)
        self.assertIn("a GradScaler looks at", ran.knob(NAME)["why"])
        self.assertEqual(ran.lines, run("each_batch").lines)

    def test_what_is_no_number_of_batches(self):
        for value in (0, 2.5, "four"):
            ran, why = self.refused(batches=value)
            self.assertIn("no number of batches", why)
            self.assertEqual(ran.lines, run("each_batch").lines)

    def test_gradients_that_the_program_clears_in_its_own_way_are_seen(self):
        self.assertIn("writes into gradients itself", self.refused("by_itself")[1])

    def test_a_batch_that_is_computed_again_in_each_step(self):
        for ways in (["attacked"], ["attacked", "before"]):
            self.assertIn("clears gradients between backward and step", self.refused(*ways)[1])

    def test_a_fault_of_the_hook_ends_it_and_not_the_program(self):
        for name in ("witness", "scaled", "is_trained", "norm"):

            def fail():
                from steptune_pytorch.knobs import accumulation_limits, seeds

                def failing(*_):
                    raise RuntimeError("of the hook")

                setattr(seeds if name == "scaled" else accumulation_limits, name, failing)

            with self.subTest(name):
                ran = run("each_batch", "by_model", "clipped", hook=knobs(4), prepare=fail)
                self.assertEqual(ran.status, 0, ran.output)
                self.assertIn("of the hook", ran.event("disabled")["why"])
                self.assertEqual(len([line for line in ran.lines if line.startswith("loss")]), 24)


class OfRanks(Accumulation):
    def ranks(self, *ways, hook=None, prepare=None):
        port = free_port()
        started = [
            start(
                "each_batch", "ranks", *ways, hook=hook, prepare=prepare, environment=launch_environment(rank, 2, port)
            )
            for rank in range(2)
        ]
        return [rank.wait() for rank in started]

    def test_train_and_communicate_as_by_hand(self):
        # Where parameters may go unused or the graph is static they communicate in each batch.
        for ways in ("", "before clipped", "by_model", "closure scheduled", "unused", "static before"):
            with self.subTest(ways):
                ways = ways.split()
                ranks = self.ranks(*ways, hook=knobs(4))
                by_hand = self.ranks(*ways, "4")
                for ran, of_hand in zip(ranks, by_hand):
                    self.assertEqual(ran.status, 0, ran.output)
                    self.assertEqual(_without_norms(ran), of_hand.lines)
                self.in_force(ranks[0], 4)
                self.assertEqual((ranks[0].steps[-1]["step"], ranks[0].steps[-1]["samples"]), (6, 384))
        self.assertEqual(self.ranks(hook=knobs(4))[0].lines[-1], "communicated 7")

    def test_that_accumulate_themselves_are_left_as_they_are(self):
        for ways in (["4"], ["4", "loud"], ["twice"]):
            with self.subTest(ways):
                for ran, untouched in zip(self.ranks(*ways, hook=knobs(2)), self.ranks(*ways)):
                    self.assertEqual(ran.status, 0, ran.output)
                    self.assertIsNone(ran.event("gave_up"))
                    self.assertEqual(ran.lines, untouched.lines)

    def test_gradients_that_are_each_rank_s_own_end_the_run(self):
        for ran in self.ranks("later_twice", hook=knobs(4)):
            self.assertEqual(ran.status, 1)
            self.assertIn("several losses a step", ran.event("gave_up")["why"])

    def test_a_fault_of_the_hook_ends_the_run(self):
        def fail():
            from steptune_pytorch.knobs import seeds

            original, calls = seeds.scaled, []

            def failing(*what):
                calls.append(what)
                if len(calls) > 5:
                    raise RuntimeError("of the hook")
                return original(*what)

            seeds.scaled = failing

        for ran in self.ranks(hook=knobs(4), prepare=fail):
            self.assertEqual(ran.status, 1)
            self.assertIn("of the hook", ran.event("gave_up")["why"])


if __name__ == "__main__":
    unittest.main()
