# SPDX-License-Identifier: Apache-2.0
"""The family of gradient boosting with the real libraries: scripts/frameworks boosting."""

import os
import re
import unittest

from harness import run, settings, untouched

_ROUNDS = {
    "xgboost_train": (12, 3000),
    "xgboost_custom": (6, 2000),
    "lightgbm_train": (12, 3000),
    "lightgbm_estimators": (6, 2000),
    "catboost_train": (12, 3000),
    "sklearn_histograms": (6, 3000),
    "sklearn_network": (20, 100),
}


def losses(ran):
    """Returns the losses that the program prints."""
    line = next(line for line in ran.lines if line.startswith("losses"))
    return [float.fromhex(loss) for loss in re.findall(r"'([^']*)'", line)]


class Reports(unittest.TestCase):
    def test_rounds_and_rows_are_counted_and_the_program_is_not_changed(self):
        for program, (rounds, rows) in _ROUNDS.items():
            with self.subTest(program):
                expected = untouched(program)
                ran = run(program, hook=settings("survey"))
                self.assertEqual((ran.status, ran.lines), (expected.status, expected.lines), ran.errors)
                self.assertEqual([step["step"] for step in ran.steps], list(range(1, rounds + 1)))
                self.assertEqual(ran.steps[-1]["samples"], rounds * rows)
                self.assertEqual(ran.event("patched")["family"], "boosting")
                self.assertIsNone(ran.event("disabled"))

    def test_folds_of_a_cross_validation_are_parted_by_phases(self):
        ran = run("xgboost_estimators", hook=settings("survey"))
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (15, 30000), ran.output)
        self.assertEqual([phase["phase"] for phase in ran.phases], ["preparation"] * 2)

    def test_folds_that_train_in_turn_are_parted_once(self):
        for library in ("xgboost", "lightgbm"):
            with self.subTest(library):
                ran = run("cross_validation", library, hook=settings("survey"))
                self.assertEqual(ran.lines, run("cross_validation", library).lines, ran.errors)
                self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (18, 36000), ran.output)
                self.assertEqual([phase["phase"] for phase in ran.phases], ["preparation"] * 2)

    def test_trees_of_a_forest_and_stages_are_steps(self):
        ran = run("sklearn_forest", hook=settings("survey"))
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (12, 18000), ran.output)
        trainers = ["sklearn.GradientBoostingRegressor", "sklearn.RandomForestRegressor"]
        self.assertEqual(ran.event("program")["optimizers"], trainers)

    def test_the_loss_is_that_of_the_training_data(self):
        for program in ("xgboost_train", "xgboost_custom", "lightgbm_train", "catboost_train"):
            with self.subTest(program):
                ran = run(program, hook=settings())
                # XGBoost and LightGBM evaluate after the round, so the line of a round has the loss of the one before.
                lag = 0 if program == "catboost_train" else 1
                reported = [step["loss"] for step in ran.steps if "loss" in step]
                rounds = min(9, len(losses(ran))) - lag
                self.assertGreaterEqual(len(reported), rounds, ran.output)
                for loss, expected in zip(reported[:rounds], losses(ran)):
                    self.assertAlmostEqual(loss, expected, delta=1e-4 * expected)

    def test_the_loss_of_catboost_is_no_other_metric(self):
        ran = run("catboost_train", "metrics", hook=settings())
        reported = [step["loss"] for step in ran.steps if "loss" in step]
        self.assertGreaterEqual(len(reported), 9, ran.output)
        for loss, expected in zip(reported, losses(ran)):
            self.assertAlmostEqual(loss, expected, delta=1e-4 * expected)

    def test_the_loss_is_that_of_the_present_training(self):
        for library in ("xgboost", "lightgbm"):
            with self.subTest(library):
                ran = run("two_trainings", library, hook=settings())
                reported = {step["step"]: step.get("loss") for step in ran.steps}
                # The second training has no loss until its first evaluation, after its first round.
                self.assertIsNone(reported[7], ran.output)
                for step, expected in zip(range(8, 13), losses(ran)):
                    self.assertAlmostEqual(reported[step], expected, delta=1e-4 * expected)

    def test_an_evaluation_is_reported_once(self):
        for library in ("xgboost", "lightgbm", "catboost"):
            with self.subTest(library):
                ran = run("seldom_evaluated", library, hook=settings())
                self.assertEqual([step["step"] for step in ran.steps], list(range(1, 13)), ran.output)
                reported = [step["loss"] for step in ran.steps if "loss" in step]
                self.assertEqual(len(reported), len(set(reported)), ran.output)
                self.assertLess(len(reported), 7, ran.output)
                for loss, expected in zip(reported, losses(ran)):
                    self.assertAlmostEqual(loss, expected, delta=1e-4 * expected)

    def test_programs_of_another_framework_are_left_alone(self):
        ran = run("beside_torch", hook=settings())
        self.assertEqual((ran.status, ran.events, ran.steps), (0, [], []), ran.output)


class SafeKnobs(unittest.TestCase):
    def same(self, program, relative, **knobs):
        """Checks that the knobs are set, and that losses differ by rounding at most."""
        expected_losses = losses(untouched(program))
        ran = run(program, hook=settings(knobs=knobs))
        self.assertEqual(ran.status, 0, ran.errors)
        for name, value in knobs.items():
            row = ran.knob(name)
            self.assertEqual((row["value"], row["may"]), (value, True), row)
        self.assertEqual(len(losses(ran)), len(expected_losses))
        for loss, expected in zip(losses(ran), expected_losses):
            self.assertAlmostEqual(loss, expected, delta=relative * expected)
        return ran

    def test_threads(self):
        for program in ("xgboost_train", "catboost_train", "lightgbm_train"):
            with self.subTest(program):
                self.assertEqual(self.same(program, 1e-6, cpu_threads=2).knob("cpu_threads")["today"], 1)

    def test_threads_of_a_forest_and_of_histograms(self):
        for program in ("sklearn_forest", "sklearn_histograms"):
            with self.subTest(program):
                ran = run(program, hook=settings(knobs={"cpu_threads": 1 if program == "sklearn_histograms" else 2}))
                self.assertTrue(ran.knob("cpu_threads")["may"], ran.output)
                self.assertEqual(ran.lines, untouched(program).lines, ran.errors)

    def test_today_openmp_may_have_more_threads_than_cpus(self):
        threads = (os.cpu_count() or 1) + 1
        for program in (("sklearn_histograms",), ("lightgbm_train", "all")):
            with self.subTest(program):
                ran = run(*program, hook=settings("survey"), environment={"OMP_NUM_THREADS": str(threads)})
                self.assertEqual(ran.knob("cpu_threads")["today"], threads)

    def test_catboost_and_forests_do_not_read_the_variables_of_openmp(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        for program in ("catboost_train", "sklearn_forest"):
            with self.subTest(program):
                hook = settings(knobs={"cpu_threads": 1})
                row = run(program, "all", hook=hook, environment={"OMP_NUM_THREADS": "1"}).knob("cpu_threads")
                self.assertEqual((row["value"], row["may"]), (1, True), row)
                self.assertGreater(row["today"], 1)

    def test_openmp_limits_the_threads_of_xgboost(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        hook = settings(knobs={"cpu_threads": 2})
        row = run("xgboost_train", hook=hook, environment={"OMP_NUM_THREADS": "1"}).knob("cpu_threads")
        self.assertEqual((row["may"], row["why"]), (False, "OMP_NUM_THREADS limits XGBoost's threads"))

    def test_layouts_of_histograms(self):
        for layout in ("columns", "rows"):
            with self.subTest(layout):
                self.same("lightgbm_train", 1e-6, histogram_layout=layout)


class OtherKnobs(unittest.TestCase):
    def test_they_change_the_training_as_their_parameters_do(self):
        ran = run("xgboost_train", hook=settings(knobs={"tree_method": "approx", "max_bin": 32}))
        self.assertEqual(ran.knob("tree_method")["today"], "auto")
        self.assertEqual((ran.knob("max_bin")["value"], ran.knob("max_bin")["today"]), (32, 256))
        self.assertNotEqual(losses(ran), losses(untouched("xgboost_train")))

    def test_quantized_gradients(self):
        ran = run("lightgbm_train", hook=settings(knobs={"quantized_gradients": True}))
        row = ran.knob("quantized_gradients")
        if int(ran.event("patched")["lightgbm"].split(".")[0]) < 4:
            self.assertEqual(row["why"], "this LightGBM has no quantized gradients")
            self.assertEqual(losses(ran), losses(untouched("lightgbm_train")))
        else:
            self.assertEqual((row["value"], row["may"]), (True, True))
            self.assertNotEqual(losses(ran), losses(untouched("lightgbm_train")))

    def test_what_a_library_lacks_is_refused_by_name(self):
        for program, knob, why in (
            ("xgboost_train", "histogram_layout", "XGBoost has no layout of histograms"),
            ("xgboost_estimators", "max_bin", "a QuantileDMatrix is binned before the training"),
            ("xgboost_estimators", "tree_method", "a QuantileDMatrix is binned before the training"),
            ("lightgbm_train", "tree_method", "LightGBM has one way to find splits"),
            ("catboost_train", "quantized_gradients", "CatBoost has no quantized gradients"),
            ("sklearn_network", "cpu_threads", "networks compute with NumPy's threads"),
        ):
            with self.subTest(knob):
                row = run(program, hook=settings("survey")).knob(knob)
                self.assertEqual((row["may"], row["why"]), (False, why))
        row = run("xgboost_train", hook=settings(knobs={"num_workers": 2})).knob("num_workers")
        self.assertEqual((row["class"], row["may"], row["why"]), ("unknown", False, "there is no such knob"))


class Faults(unittest.TestCase):
    def test_a_fault_ends_the_hook_and_not_the_program(self):
        ran = run("xgboost_train", "broken", hook=settings())
        self.assertEqual(ran.status, 0, ran.errors)
        self.assertEqual(ran.lines, untouched("xgboost_train").lines)
        self.assertIn("disabled", [event["event"] for event in ran.events])

    def test_nothing_is_printed_in_mode_apply(self):
        for program, library in (("lightgbm_train", "LightGBM"), ("catboost_train", "CatBoost")):
            with self.subTest(program):
                ran = run(program, hook={"v": 1, "mode": "apply", "knobs": {"cpu_threads": 2, "tree_method": "hist"}})
                self.assertEqual((ran.events, ran.reports), ([], []), ran.output)
                why = "tree_method=hist could not be set: %s has one way to find splits" % library
                self.assertIn(why, ran.errors)
                self.assertNotIn("cpu_threads", ran.errors)


if __name__ == "__main__":
    unittest.main()
