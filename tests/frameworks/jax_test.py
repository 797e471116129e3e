# SPDX-License-Identifier: Apache-2.0
"""Tests the hook for JAX with the real libraries: scripts/frameworks jax."""

import os
import re
import tempfile
import unittest

from harness import run, settings, untouched

# Steps, samples of a step, and the function that is the step.
_STEPS = {
    "jax_optax": (30, 32, "train_step"),
    "jax_flax": (10, 16, "gradients_of"),
    "jax_nnx": (10, 12, "train_step"),
    "jax_methods": (30, 16, "train_step"),
}


def losses(ran):
    """Returns the losses that the program prints."""
    line = next(line for line in ran.lines if line.startswith("losses"))
    return [float.fromhex(loss) for loss in re.findall(r"'([^']*)'", line)]


class Reports(unittest.TestCase):
    def test_the_step_is_the_costliest_function_that_returns_a_state(self):
        for program, (steps, samples, name) in _STEPS.items():
            with self.subTest(program):
                ran = run(program, hook=settings())
                self.assertEqual((ran.status, ran.lines), (0, untouched(program).lines), ran.errors)
                self.assertEqual([step["step"] for step in ran.steps], list(range(1, steps + 1)))
                self.assertEqual(ran.steps[-1]["samples"], steps * samples)
                self.assertEqual(ran.event("program")["counts"], "call of " + name)
                self.assertEqual(ran.event("patched")["family"], "jax")

    def test_samples_are_those_of_the_step(self):
        ran = run("jax_methods", "clips", hook=settings())
        self.assertEqual(ran.event("program")["counts"], "call of train_step")
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (30, 480), ran.output)

    def test_losses_are_those_of_the_program(self):
        for program in ("jax_optax", "jax_flax"):
            with self.subTest(program):
                ran = run(program, hook=settings())
                reported = {step["step"]: step["loss"] for step in ran.steps if "loss" in step}
                self.assertGreaterEqual(len(reported), 7)
                for step, loss in reported.items():
                    self.assertEqual(loss, losses(ran)[step - 1])

    def test_an_evaluation_between_steps_is_a_phase(self):
        ran = run("jax_optax", hook=settings())
        self.assertEqual({phase["phase"] for phase in ran.phases}, {"evaluation"}, ran.output)
        self.assertEqual(len(ran.phases), 2)  # the third one is not followed by a step

    def test_an_evaluation_may_follow_a_function_that_takes_the_state(self):
        ran = run("jax_methods", hook=settings())
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual([phase["phase"] for phase in ran.phases], ["evaluation"] * 2, ran.output)

    def test_steps_before_an_evaluation_are_reported(self):
        ran = run("jax_optax", hook=settings(interval_s=1000))
        self.assertEqual([step["step"] for step in ran.steps], [1, 10, 20], ran.output)
        self.assertEqual([step["loss"] for step in ran.steps[1:]], [losses(ran)[9], losses(ran)[19]])

    def test_devices_share_a_batch(self):
        for way in ("pmap", "shard"):
            with self.subTest(way):
                ran = run("jax_devices", way, hook=settings())
                self.assertEqual((ran.status, ran.lines), (0, run("jax_devices", way).lines), ran.errors)
                self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (10, 240))


class Knobs(unittest.TestCase):
    def rows(self, ran, **knobs):
        self.assertEqual(ran.status, 0, ran.errors)
        for name, value in knobs.items():
            row = ran.knob(name)
            self.assertEqual((row["value"], row["may"]), (value, True), row)

    def test_safe_ones_keep_each_loss(self):
        for knobs in ({"async_dispatch": False}, {"gc": "freeze"}):
            with self.subTest(knobs):
                ran = run("jax_optax", hook=settings(knobs=knobs))
                self.rows(ran, **knobs)
                self.assertEqual(ran.lines, untouched("jax_optax").lines)

    def test_compiled_functions_of_another_trial_give_the_same_losses(self):
        with tempfile.TemporaryDirectory() as folder:
            # JAX also stores functions that compile in less than a second.
            shared = {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
            for _ in range(2):
                ran = run("jax_optax", hook=settings(), environment=shared)
                self.assertEqual((ran.status, ran.lines), (0, untouched("jax_optax").lines), ran.errors)
                self.assertTrue(os.listdir(folder))

    def test_threads_of_the_host(self):
        ran = run("jax_optax", hook=settings(), environment={"PJRT_NPROC": "1"})
        self.rows(ran, host_threads=1)
        self.assertEqual(len(losses(ran)), len(losses(untouched("jax_optax"))))
        for loss, expected in zip(losses(ran), losses(untouched("jax_optax"))):
            self.assertAlmostEqual(loss, expected, delta=1e-4 * expected)

    def test_flags_are_tried_before_they_are_set(self):
        choices = run("jax_flax", hook=settings("survey")).knob("xla_cpu_flags")["choices"]
        self.assertIn("fast_math", choices)
        ran = run("jax_flax", hook=settings(knobs={"xla_cpu_flags": "fast_math"}))
        self.rows(ran, xla_cpu_flags="fast_math")
        own = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false"}
        ran = run("jax_flax", hook=settings(knobs={"xla_cpu_flags": "fast_math"}), environment=own)
        self.assertEqual(ran.knob("xla_cpu_flags")["why"], "the program sets this flag itself")
        self.assertEqual(ran.lines, untouched("jax_flax").lines)

    def test_the_precision_of_products(self):
        ran = run("jax_flax", hook=settings(knobs={"matmul_precision": "bfloat16"}))
        self.rows(ran, matmul_precision="bfloat16")
        ran = run("jax_flax", hook=settings(knobs={"matmul_precision": "bfloat17"}))
        self.assertFalse(ran.knob("matmul_precision")["may"])
        self.assertEqual(ran.lines, untouched("jax_flax").lines)


class Faults(unittest.TestCase):
    def test_a_fault_ends_the_hook_and_not_the_program(self):
        ran = run("jax_optax", "broken", hook=settings())
        self.assertEqual((ran.status, ran.lines), (0, untouched("jax_optax").lines), ran.errors)
        self.assertIsNotNone(ran.event("disabled"))


if __name__ == "__main__":
    unittest.main()
