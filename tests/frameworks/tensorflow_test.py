# SPDX-License-Identifier: Apache-2.0
"""The family of Keras and TensorFlow with the real libraries: scripts/frameworks tensorflow."""

import os
import re
import unittest

from harness import run, settings, untouched

# Steps and samples of a whole run, and what counts as a step.
_STEPS = {
    ("keras_fit",): (21, 300, "batch of fit"),
    ("keras_fit", "often"): (21, 300, "batch of fit"),
    ("keras_sequence",): (14, 200, "batch of fit"),
    ("keras_adversarial",): (8, 192, "batch of fit"),
    ("keras_adversarial", "batches"): (4, 96, "train_on_batch"),
    ("tensorflow_loop",): (21, 300, "optimizer"),
    ("tensorflow_loop", "eager"): (21, 300, "optimizer"),
    # The first step of the second model does not count.
    ("tensorflow_models",): (13, 65, "optimizer"),
}
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3"}


def losses(ran):
    """Returns the losses that the program prints."""
    line = next(line for line in ran.lines if line.startswith("losses"))
    return [float.fromhex(loss) for loss in re.findall(r"'([^']*)'", line)]


def hooked(*program, hook, backend="tensorflow", **environment):
    return run(*program, hook=hook, environment=dict(_QUIET, KERAS_BACKEND=backend, **environment))


class Reports(unittest.TestCase):
    def test_steps_and_samples_are_counted_and_the_program_is_not_changed(self):
        for program, (steps, samples, counts) in _STEPS.items():
            with self.subTest(program):
                ran = hooked(*program, hook=settings("survey"))
                expected = run(*program)
                self.assertEqual((ran.status, ran.lines), (expected.status, expected.lines), ran.errors)
                self.assertEqual([step["step"] for step in ran.steps], list(range(1, steps + 1)))
                # Keras counts the last, smaller batch of a PyDataset's epoch at the end of the epoch.
                late = 12 if program == ("keras_sequence",) else 0
                self.assertEqual(ran.steps[-1]["samples"], samples + late)
                self.assertEqual(ran.event("program")["counts"], counts)
                self.assertEqual(ran.event("patched")["family"], "keras")
                self.assertIsNone(ran.event("disabled"))

    def test_each_backend_of_keras_counts_once(self):
        ran = hooked("keras_fit", hook=settings("survey"), backend="jax")
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (21, 300), ran.output)
        self.assertEqual([step["step"] for step in ran.steps], list(range(1, 22)))
        self.assertIn("JAX", ran.event("patched")["frameworks"])
        self.assertEqual(ran.lines, run("keras_fit", environment={"KERAS_BACKEND": "jax"}).lines)

    def test_the_plan_is_that_of_fit(self):
        ran = hooked("keras_fit", hook=settings("survey"))
        self.assertEqual(ran.event("program")["epochs"], 3)
        loader = ran.event("loader")
        self.assertEqual((loader["length"], loader["batch_size"], loader["samples"]), (7, 16, 100))
        self.assertEqual(hooked("keras_fit", "resumed", hook=settings("survey")).event("program")["epochs"], 2)

    def test_a_second_fit_leaves_no_plan(self):
        ran = hooked("keras_twice", hook=settings("survey"))
        self.assertEqual(ran.steps[-1]["step"], 18, ran.output)
        self.assertNotIn("epochs", ran.event("program"))
        plans = [event["epochs"] for event in ran.events if event["event"] == "program" and "epochs" in event]
        self.assertEqual(set(plans), {1})
        self.assertEqual([event["id"] for event in ran.events if event["event"] == "loader"], ["0"])
        ran = hooked("keras_twice", "other", hook=settings("survey"))
        self.assertEqual([event["id"] for event in ran.events if event["event"] == "loader"], ["0", "1"])

    def test_evaluations_and_checkpoints_are_phases(self):
        ran = hooked("keras_fit", hook=settings())
        self.assertEqual([phase["phase"] for phase in ran.phases], ["evaluation", "checkpoint"] * 3)
        ran = hooked("tensorflow_loop", hook=settings())
        # The third one is not followed by a step.
        self.assertEqual([phase["phase"] for phase in ran.phases], ["evaluation"] * 2, ran.output)

    def test_losses_are_those_of_the_program(self):
        ran = hooked("tensorflow_loop", hook=settings())
        self.assertEqual([step["loss"] for step in ran.steps], losses(ran))
        ran = hooked("keras_fit", hook=settings())
        means = {step["step"]: step["loss"] for step in ran.steps}
        self.assertEqual([means[7], means[14], means[21]], losses(ran)[:3])


class SafeKnobs(unittest.TestCase):
    def same(self, program, **knobs):
        """Checks that the knobs are set, and that the program prints the same."""
        ran = hooked(program, hook=settings(knobs=knobs))
        self.assertEqual(ran.status, 0, ran.errors)
        for name, value in knobs.items():
            row = ran.knob(name)
            self.assertEqual((row["value"], row["may"]), (value, True), row)
            self.assertNotEqual(row["today"], value)
        self.assertEqual(losses(ran), losses(untouched(program)))
        return ran

    def test_several_steps_in_a_call(self):
        ran = self.same("keras_fit", steps_per_execution=4)
        self.assertEqual([step["step"] for step in ran.steps], [4, 7, 11, 14, 18, 21])
        self.assertEqual([step["samples"] for step in ran.steps], [64, 100, 164, 200, 264, 300])

    def test_data_sets(self):
        self.same("keras_datasets", data_parallel_calls="cpus", data_prefetch=True)
        self.same("keras_datasets", data_parallel_calls="autotune", data_private_threads=2, data_autotune=False)

    def test_sequential_calls_are_those_of_a_map_without_a_number(self):
        expected = run("keras_datasets", "parallel")
        self.assertIn("maps by _ParallelMapDataset", expected.lines)
        hook = settings(knobs={"data_parallel_calls": "sequential"})
        ran = hooked("keras_datasets", "parallel", hook=hook)
        self.assertIn("maps by _MapDataset", ran.lines)
        self.assertEqual(losses(ran), losses(expected))

    def test_workers(self):
        self.same("keras_sequence", data_workers=3)
        self.same("keras_sequence", data_workers=2, data_processes=True)

    def test_workers_load_the_data_of_each_training(self):
        self.assertIn("at the same time [False, False]", run("keras_sequence", "slow").lines)
        ran = hooked("keras_sequence", "slow", hook=settings(knobs={"data_workers": 3}))
        self.assertIn("at the same time [True, True]", ran.lines)

    def test_collector(self):
        self.same("keras_fit", gc="freeze")

    def test_threads(self):
        cpus = len(os.sched_getaffinity(0))
        if cpus < 2:
            self.skipTest("there is one CPU")
        expected = losses(untouched("keras_fit"))
        ran = hooked("keras_fit", hook=settings(knobs={"intra_op_threads": 1, "inter_op_threads": 1}))
        for name in ("intra_op_threads", "inter_op_threads"):
            self.assertEqual((ran.knob(name)["today"], ran.knob(name)["value"]), (cpus, 1))
        self.assertEqual(len(losses(ran)), len(expected))
        for loss, other in zip(losses(ran), expected):
            self.assertAlmostEqual(loss, other, delta=1e-5 * other)


class OtherKnobs(unittest.TestCase):
    def test_they_are_set(self):
        expected = losses(untouched("keras_fit"))
        # With bfloat16, dropout draws other numbers.
        for knobs, share in (({"jit_compile": True}, 0.1), ({"dtype_policy": "mixed_bfloat16"}, 0.5)):
            with self.subTest(knobs):
                ran = hooked("keras_fit", hook=settings(knobs=knobs))
                self.assertEqual(ran.status, 0, ran.errors)
                for name, value in knobs.items():
                    self.assertEqual(ran.knob(name)["value"], value)
                self.assertEqual(len(losses(ran)), len(expected))
                for loss, other in zip(losses(ran), expected):
                    self.assertAlmostEqual(loss, other, delta=share * other)
        self.assertNotEqual(losses(ran), expected)

    def test_onednn_is_a_variable(self):
        ran = hooked("keras_fit", hook=settings(), TF_ENABLE_ONEDNN_OPTS="0")
        self.assertEqual(ran.knob("onednn")["value"], "off")

    def test_what_cannot_be_changed_is_refused_by_name(self):
        for program, knob, why in (
            (("keras_datasets", "random"), "data_parallel_calls", "has the operation RandomStandardNormal"),
            (("keras_datasets", "synchronous"), "data_parallel_calls", "the program asks for synchronous calls"),
            (("keras_datasets", "random"), "data_prefetch", "has the operation RandomStandardNormal"),
            (("keras_datasets", "pool"), "data_private_threads", "the program has separate threads itself"),
            (("keras_sequence", "random"), "data_workers", "the PyDataset draws random numbers"),
            (("keras_sequence", "part"), "data_workers", "fit has steps_per_epoch"),
            (("keras_sequence", "callback"), "steps_per_execution", "the callback Rate acts on each batch"),
            (("tensorflow_loop",), "jit_compile", "the program trains in a loop of its own"),
            (("keras_fit",), "gpu_allocator", "there is no GPU"),
        ):
            with self.subTest(program=program, knob=knob):
                values = {
                    "data_parallel_calls": "cpus",
                    "data_prefetch": True,
                    "data_private_threads": 0,
                    "data_workers": 2,
                }
                wanted = values.get(knob, 8)
                ran = hooked(*program, hook=settings(knobs={knob: wanted} if knob != "gpu_allocator" else {}))
                self.assertFalse(ran.knob(knob)["may"])
                self.assertIn(why, ran.knob(knob)["why"])
                self.assertEqual(ran.lines, run(*program).lines)


class Faults(unittest.TestCase):
    def test_a_fault_ends_the_hook_and_not_the_program(self):
        ran = hooked("keras_fit", "broken", hook=settings())
        self.assertEqual((ran.status, ran.lines), (0, untouched("keras_fit").lines), ran.errors)
        self.assertIsNotNone(ran.event("disabled"))


if __name__ == "__main__":
    unittest.main()
