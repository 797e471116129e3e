# SPDX-License-Identifier: Apache-2.0
"""Tests the hook for JAX with the real libraries: scripts/frameworks jax."""

import os
import re
import sys
import tempfile
import unittest
from unittest import mock

import jax

from harness import HOOK, run, settings, untouched

sys.path.append(HOOK)
from steptune_hook.families import read_table  # noqa: E402
from steptune_hook.jax import xla_flags  # noqa: E402
from steptune_hook.jax.knobs import XlaFlagsKnobs  # noqa: E402

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

    def test_flags_of_a_gpu_are_not_for_a_cpu(self):
        ran = run("jax_flax", hook=settings("survey"))
        for name, choice in (("xla_gpu_collectives", "overlap_128MiB"), ("xla_gpu_kernels", "no_triton_gemm")):
            row = ran.knob(name)
            self.assertEqual((row["may"], row["why"]), (False, "the program does not compute on the GPU"))
            self.assertIn(choice, row["choices"], "a CPU's XLA knows the flag")

    def gpu_rows(self, devices=4, own="", known=lambda choices: list(choices), is_survey=False, **requested):
        """Returns the rows of XLA's knobs where a program computes on GPUs, and its XLA_FLAGS then."""
        gpu = mock.patch.multiple(jax, default_backend=lambda: "gpu", device_count=lambda: devices)
        tried = mock.patch.object(xla_flags, "known", known)
        with gpu, tried, mock.patch.dict(os.environ, {"XLA_FLAGS": own}):
            group = XlaFlagsKnobs(read_table("jax"), requested, is_survey)
            group.wrap()
            return {row.name: row for row in group.statuses()}, os.environ["XLA_FLAGS"]

    def test_flags_of_a_gpu_add_up(self):
        own = "--xla_dump_to=/tmp/x"
        rows, flags = self.gpu_rows(own=own, xla_gpu_collectives="overlap", xla_gpu_kernels="no_command_buffers")
        self.assertEqual(
            flags.split(),
            [own, "--xla_gpu_enable_latency_hiding_scheduler=true", "--xla_gpu_enable_command_buffer="],
        )
        self.assertEqual((rows["xla_gpu_collectives"].value, rows["xla_gpu_collectives"].why), ("overlap", None))
        self.assertEqual(rows["xla_gpu_kernels"].value, "no_command_buffers")
        self.assertEqual(rows["xla_cpu_flags"].why, "the program does not compute on the CPU")

    def test_flags_of_a_gpu_are_refused_by_name(self):
        def refused(name, choice, **how):
            rows, flags = self.gpu_rows(**{name: choice}, **how)
            self.assertNotIn(choice, (rows[name].today, rows[name].value))
            self.assertEqual(flags, how.get("own", ""))
            return rows[name].why

        own = "--xla_gpu_all_reduce_combine_threshold_bytes=1"
        self.assertEqual(
            refused("xla_gpu_collectives", "overlap_128MiB", own=own), "the program sets this flag itself"
        )
        self.assertEqual(refused("xla_gpu_kernels", "fast_math"), "there is no such choice")
        self.assertEqual(
            refused("xla_gpu_kernels", "no_triton_gemm", known=lambda choices: []), "this XLA does not know the flag"
        )
        rows, _ = self.gpu_rows(devices=1, is_survey=True)
        self.assertEqual(rows["xla_gpu_collectives"].why, "the program computes on one device")
        self.assertIsNone(rows["xla_gpu_kernels"].why)

    def test_unknown_flags_are_found_among_known_ones(self):
        tried = []

        def runs(choices):
            tried.append(choices)
            return "no_xnnpack" not in choices

        with mock.patch.object(xla_flags, "_runs", runs):
            known = xla_flags.known(xla_flags.BY_CHOICE)
        self.assertEqual(known, [choice for choice in xla_flags.BY_CHOICE if choice != "no_xnnpack"])
        self.assertLess(len(tried), len(xla_flags.BY_CHOICE))

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
