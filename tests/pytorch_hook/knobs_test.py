# SPDX-License-Identifier: Apache-2.0
"""Tests the knobs: losses with safe knobs equal those of the untouched program to the last bit."""

import inspect
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import torch

from harness import HOOK, program, run, run_fresh, settings
from reports_test import replace_scalers

sys.path.append(HOOK)
from steptune_hook.families import read_table  # noqa: E402
from steptune_hook.knobs import huge_pages, preload  # noqa: E402
from steptune_hook.knobs.environment import EnvironmentKnobs  # noqa: E402
from steptune_hook.pytorch.knobs import attention, libraries  # noqa: E402
from steptune_hook.pytorch.knobs.process import ProcessKnobs  # noqa: E402


class FusedOfCpu(torch.optim.SGD):
    """Fake of a fused optimizer, which PyTorch 1 has only for a GPU."""

    def __init__(self, params, lr, foreach=None, *, fused=None):
        super().__init__(params, lr, foreach=foreach)
        self._step_supports_amp_scaling = bool(fused)


def knobs(**values):
    return settings("report", interval_s=0, knobs=values)


class Knobs(unittest.TestCase):
    def same(self, name, *arguments, refused=(), **values):
        """Checks that knobs are set, or refused as expected, and that the program prints the same either way."""
        ran = run(name, *arguments, hook=knobs(**values))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.lines, run(name, *arguments).lines)
        for knob, value in values.items():
            reported = ran.knob(knob)
            if knob in refused:
                self.assertFalse(reported["may"], reported)
                self.assertIn("why", reported)
            else:
                self.assertEqual(reported.get("value"), value, reported)
                self.assertTrue(reported["may"], reported)
        return ran

    def losses(self, ran):
        return [float.fromhex(line.split()[1]) for line in ran.lines if line.startswith("loss")]


class SafeKnobs(Knobs):
    def test_workers(self):
        ran = self.same("mnist", num_workers=2)
        self.assertEqual(ran.knob("num_workers")["today"], 0)
        loaders = [e for e in ran.events if e["event"] == "loader"]
        self.assertEqual([e["num_workers"] for e in loaders if e["training"] is not True], [0] * 2)

    def test_workers_and_noise_in_the_forward(self):
        self.same("vae", num_workers=1, prefetch_factor=4)

    def test_workers_and_random_numbers_between_a_pass_and_its_first_batch(self):
        for way in ("program", "generator", "sequential", "passes", "threads"):
            # The hook does not watch batches that another thread reads, but the program must still get them.
            refused = ["num_workers", "persistent_workers"] if way == "threads" else []
            for persist in (False, True):
                self.same("early_pass", way, num_workers=2, persistent_workers=persist, refused=refused)

    def test_workers_of_two_loaders_at_once(self):
        for way in ("zip", "nested", "held"):
            self.same("two_loaders", way, num_workers=2)
            self.same("two_loaders", way, "1", num_workers=2)
        why = run("two_loaders", "zip", "generator", hook=knobs()).knob("num_workers")["why"]
        self.assertIn("share a generator", why)

    def test_workers_of_spawned_ranks_are_forked(self):
        ran = self.same("ddp", num_workers=2)
        self.assertEqual(ran.knob("num_workers")["also"], ['multiprocessing_context="fork"'])
        self.same("ddp", num_workers=1, prefetch_factor=4, persistent_workers=True)

    def test_workers_are_forked_where_python_would_start_them_by_a_fork_server(self):
        def pretend_newer_python():
            # From Python 3.14 on.
            multiprocessing.get_all_start_methods = lambda: ["forkserver", "spawn", "fork"]

        ran = run("vae", hook=knobs(num_workers=2), prepare=pretend_newer_python)
        self.assertEqual(ran.lines, run("vae").lines)
        row = ran.knob("num_workers")
        self.assertEqual((row["may"], row["value"]), (True, 2), row)
        self.assertEqual(row["also"], ['multiprocessing_context="fork"'])
        row = run("training_arguments", hook=knobs(num_workers=2), prepare=pretend_newer_python).knob("num_workers")
        self.assertEqual(row["also"], ['dataloader_multiprocessing_context="fork"'])

        def choose():
            multiprocessing.set_start_method("forkserver")

        self.assertIn("forkserver", run("vae", hook=knobs(num_workers=2), prepare=choose).knob("num_workers")["why"])

    def test_workers_where_passes_are_left_whose_sampler_draws_at_their_end(self):
        for way in ("early", "early replacement", "early evaluated"):
            with self.subTest(way):
                self.same("left_pass", *way.split(), num_workers=2)
                self.same("left_pass", *way.split(), num_workers=1, persistent_workers=True)
                self.same("left_pass", *way.split(), "workers", num_workers=0)
                self.same("left_pass", *way.split(), "workers", num_workers=1, prefetch_factor=5)

    def test_workers_where_the_program_draws_beside_the_sampler(self):
        for knob in (knobs(), knobs(num_workers=2)):
            row = run("left_pass", "early", "beside", hook=knob).knob("num_workers")
            self.assertIn("draws from the sampler's generator", row["why"])
            self.assertEqual(row["value"], row["today"], "later passes have the program's own setting")

    def test_workers_that_persist(self):
        ran = self.same("vae", num_workers=2, persistent_workers=True)
        self.assertEqual(ran.steps[-1]["step"], 18)

    def test_workers_of_a_loader_that_turns_out_to_be_an_evaluation_s(self):
        self.same("inner_evaluation", "average", num_workers=1, persistent_workers=True)

    def test_workers_that_persist_no_longer(self):
        self.same("persistent", persistent_workers=False)

    def test_workers_of_a_loader_that_keeps_one_endless_iterator(self):
        self.same("endless_loader", num_workers=2, prefetch_factor=4)

    def test_no_workers_where_there_were_some(self):
        self.same("persistent", num_workers=0)
        self.same("worker_init", num_workers=0)

    def test_workers_of_other_programs(self):
        self.same("gan", num_workers=1)
        self.same("lightning_style", num_workers=1)
        self.same("trainer_style", num_workers=2)
        for way in ("subclass", "adapter"):
            self.same("accelerate_style", "--loader", way, num_workers=2, set_to_none=False, refused=["set_to_none"])
        self.same("teacher", num_workers=1)

    def test_where_the_program_would_be_changed(self):
        ran = run("mnist", hook=knobs())
        lines = open(program("mnist"), encoding="utf-8").read().splitlines()

        def line_of(text):
            return "mnist.py:%d" % next(n for n, line in enumerate(lines, 1) if text in line)

        self.assertEqual(ran.knob("set_to_none")["where"], [line_of("zero_grad()") + " zero_grad"])
        for knob in ("precision", "channels_last", "compile"):
            self.assertEqual(ran.knob(knob)["where"], [line_of("model(") + " Net"])

    def test_all_together(self):
        self.same(
            "mnist",
            num_workers=2,
            prefetch_factor=3,
            persistent_workers=True,
            sharing_strategy="file_system",
            num_interop_threads=2,
            optimizer_implementation="foreach",
            set_to_none=True,
        )

    def test_of_an_unusual_program(self):
        ran = self.same("unusual", num_workers=1, set_to_none=True, refused=["set_to_none"])
        self.assertIs(ran.knob("set_to_none")["today"], True)
        self.assertEqual(ran.knob("num_workers")["today"], 0)

    def test_the_layout_of_an_unusual_program(self):
        ran = run("unusual", hook=knobs(channels_last=True))
        self.assertIs(ran.knob("channels_last").get("value"), True, ran.output)
        losses, untouched = (
            [float(line.split()[1]) for line in of.lines if line.startswith("loss ")] for of in (ran, run("unusual"))
        )
        self.assertEqual(len(losses), 6)
        for loss, expected in zip(losses, untouched):
            self.assertAlmostEqual(loss / expected, 1.0, places=5)  # PyTorch 2 adds in another order

    def test_lists_of_parameters(self):
        for name in ("mnist", "vae", "gan", "accumulation"):
            ran = self.same(name, optimizer_implementation="foreach")
            self.assertEqual(ran.knob("optimizer_implementation")["today"], "loop")

    def test_another_implementation_than_the_program_s_fused_one_takes_no_scaled_gradients(self):
        def fuse():
            replace_scalers()
            torch.optim.SGD = FusedOfCpu

        for value, takes in (("loop", False), ("foreach", False), ("fused", True)):
            ran = run("scaler", "fused", hook=knobs(optimizer_implementation=value), before_hook=fuse)
            self.assertIn("takes scaled gradients %s" % takes, ran.lines, ran.output)
            if value != "fused":
                row = ran.knob("optimizer_implementation")
                self.assertEqual((row["today"], row["value"], row["may"]), ("fused", value, True), row)

    def test_gradients_freed(self):
        self.same("mnist", set_to_none=True)

    def test_gradients_freed_where_some_parameters_get_none(self):
        """Gradients are not filled with zeros either, unless the program does so."""
        other = not inspect.signature(torch.optim.Optimizer.zero_grad).parameters["set_to_none"].default
        alike = ("never adam", "late adamw", "turns sgd", "frozen sgd", "late adam accumulate", "always momentum clip twice")
        for way in alike:
            self.same("some_gradients", *way.split(), set_to_none=other)
        refused = ("turns adam", "turns adam none", "turns momentum clip", "turns decay", "turns adamw accumulate", "frozen adam", "frozen decay")
        for way in refused:
            ran = self.same("some_gradients", *way.split(), set_to_none=other, refused=["set_to_none"])
            self.assertIn("no gradient in some steps", ran.knob("set_to_none")["why"])
        for way in ("turns adam closure", "turns adam", "frozen-late momentum"):
            self.assertFalse(run("some_gradients", *way.split(), hook=knobs()).knob("set_to_none")["may"])
        long_run = run("some_gradients", "turns", "adam", hook=settings("apply", knobs={"set_to_none": other}))
        self.assertIn("set_to_none=%s could not be set" % other, long_run.output)

    def test_gradients_are_not_looked_at_where_they_are_cleared_as_the_program_does_it_for_good(self):
        def count_looks():
            import atexit

            from steptune_hook.pytorch import received_gradients

            def writes(gradient):
                looks.append(gradient)
                return original(gradient)

            looks, original = [], received_gradients._writes
            received_gradients._writes = writes
            atexit.register(lambda: print("looks", len(looks) > 0))

        default = inspect.signature(torch.optim.Optimizer.zero_grad).parameters["set_to_none"].default
        for value, looks in ((default, False), (not default, True)):
            hook = settings("apply", knobs={"set_to_none": value})
            ran = run("some_gradients", "never", "adam", hook=hook, prepare=count_looks)
            self.assertEqual(ran.lines[-1], "looks %s" % looks, ran.output)

    def test_threads(self):
        ran = run("mnist", hook=knobs(num_threads=2))
        self.assertEqual(ran.knob("num_threads")["value"], 2)
        self.assertEqual(ran.knob("num_threads")["today"], 1)
        untouched = run("mnist")
        self.assertEqual(len(ran.lines), len(untouched.lines))
        for line, other in zip(ran.lines, untouched.lines):
            self.assertAlmostEqual(
                float.fromhex(line.split()[1]), float.fromhex(other.split()[1]), delta=1e-3
            )

    def test_threads_that_may_be_set_only_once(self):
        ran = self.same("settings", num_interop_threads=2)
        row = ran.knob("num_interop_threads")
        self.assertEqual((row["today"], row["where"]), (1, ["settings.py:11 set_num_interop_threads"]))

    def test_channels_last(self):
        ran = run("mnist", hook=knobs(channels_last=True))
        self.assertTrue(ran.knob("channels_last")["value"])
        self.assertEqual(len(ran.lines), len(run("mnist").lines))

    def test_what_a_program_does_with_images_that_come_out(self):
        for way in ("outputs", "inference"):
            ran = run("state_in_forward", way, hook=knobs(channels_last=True))
            self.assertEqual(ran.status, 0, ran.output)
            self.assertTrue(ran.knob("channels_last")["value"])


class RefusedKnobs(Knobs):
    def test_iterable_data_set(self):
        self.same("iterable", num_workers=2, refused=["num_workers"])

    def test_workers_that_cannot_load(self):
        for way, why in (("items", "no such device"), ("begin", "unsupported operand")):
            with self.subTest(way):
                ran = run_fresh([program("fails_in_workers"), way], hook=knobs(num_workers=1))
                self.assertEqual(ran.status, 1)
                reported = ran.event("gave_up")
                self.assertEqual((reported["knob"], reported["value"]), ("num_workers", 1))
                self.assertIn(why, reported["why"])
        # The program handles its own fault, so the hook reports nothing.
        ran = run_fresh([program("fails_in_workers"), "all"], hook=knobs(num_workers=1))
        self.assertEqual((ran.status, ran.event("gave_up")), (0, None))
        # Workers that are forked after the error do not report it either.
        ran = run_fresh([program("fails_in_workers"), "several"], hook=knobs(num_workers=2))
        self.assertIn("not looked at True", ran.lines)
        self.assertEqual((ran.status, ran.event("gave_up")), (0, None), ran.output)

    def test_workers_that_cannot_load_on_one_rank(self):
        ran = run_fresh([program("odd_rank"), "fails"], hook=knobs(num_workers=2))
        self.assertEqual(ran.status, 1)
        reported = ran.event("gave_up")
        self.assertEqual((reported["knob"], reported["value"]), ("num_workers", 2))
        self.assertIn("no memory left for another worker", reported["why"])

    def test_what_one_rank_alone_refuses(self):
        ran = run_fresh([program("odd_rank"), "draws"], hook=knobs(num_workers=1))
        self.assertEqual(ran.status, 0, ran.output)

        def rows_of_ranks(knob):
            return [event for event in ran.events if event.get("knob") == knob]

        rows = {row.get("rank", 0): row for row in rows_of_ranks("num_workers")}
        self.assertEqual((rows[0]["may"], rows[0]["value"]), (True, 1))
        self.assertFalse(rows[1]["may"])
        self.assertIn("the sampler draws", rows[1]["why"])
        # Only the requested knob has other rows.
        self.assertEqual([row.get("rank", 0) for row in rows_of_ranks("prefetch_factor")], [0])

    def test_sampler_that_draws(self):
        # Requested although a survey refuses it: the running program shows the reason.
        for way in ("again", "anew"):
            row = run("batch_sampler", way, hook=knobs(num_workers=1)).knob("num_workers")
            self.assertFalse(row["may"])
            self.assertEqual(row["value"], row["today"], "the next pass has the program's own setting")

    def test_order_that_workers_draw_earlier(self):
        without = run("early_pass", "workers", hook=knobs(num_workers=0)).knob("num_workers")
        self.assertIn("between iter() and the first batch", without["why"])
        self.same("early_pass", "workers", num_workers=1)
        surveyed = run("early_pass", "endless", hook=settings("survey")).knob("num_workers")
        self.assertIn("the sampler draws", surveyed["why"])
        # Requested although a survey refuses it: the trial refuses it, too.
        requested = run("early_pass", "endless", hook=knobs(num_workers=1)).knob("num_workers")
        self.assertFalse(requested["may"], requested)

    def test_a_generator_that_loaders_share_is_told_once(self):
        def count_surveys():
            import atexit

            from steptune_hook.pytorch.hook import Hook

            def survey(hook):
                surveys.append(hook)
                original(hook)

            surveys, original = [], Hook.survey
            Hook.survey = survey
            atexit.register(lambda: print("surveys", len(surveys)))

        ran = run("two_loaders", "nested", "generator", hook=knobs(), prepare=count_surveys)
        self.assertIn("share a generator", ran.knob("num_workers")["why"])
        # Surveys after the first, the third and the tenth step, and one for the finding.
        self.assertLessEqual(int(ran.lines[-1].split()[1]), 4, ran.lines[-1])

    def test_data_set_that_holds_open_files_or_connections(self):
        for kind, name in (
            ("h5py", "File"),
            ("lmdb", "Environment"),
            ("tables", "File"),
            ("file", "BufferedReader"),
            ("sqlite3", "Connection"),
            ("socket", "socket"),
        ):
            ran = self.same("open_files", kind, num_workers=2, refused=["num_workers"])
            found = name if kind == "file" else "%s.%s" % (kind, name)
            what = "connection" if kind in ("sqlite3", "socket") else "file"
            why = "the data set holds an open %s (%s), which workers would share" % (what, found)
            self.assertEqual(ran.knob("num_workers")["why"], why)
        self.same("open_files", "hung_up", num_workers=0)
        self.same("open_files", "closed", num_workers=2)
        self.same("open_files", "late", num_workers=2)  # each worker opens the file for itself

    def test_data_set_that_changes(self):
        ran = self.same("changing_data", persistent_workers=True, refused=["persistent_workers"])
        self.assertIn("change between passes", ran.knob("persistent_workers")["why"])

    def test_a_large_array_of_a_data_set_is_not_read_whole_in_each_pass(self):
        def count_bytes():
            import zlib

            original = zlib.crc32

            def crc32(data):
                print("compared", len(data))
                return original(data)

            zlib.crc32 = crc32

        ran = run("changing_data", "large", hook=knobs(persistent_workers=True), prepare=count_bytes)
        compared = [int(line.split()[1]) for line in ran.lines if line.startswith("compared")]
        self.assertTrue(compared, ran.output)
        self.assertLessEqual(max(compared), 1 << 24)

    def test_workers_that_cannot_be_started(self):
        def limit():
            from multiprocessing.process import BaseProcess

            def start(process):
                raise BlockingIOError("no more processes")

            BaseProcess.start = start

        ran = run("mnist", hook=knobs(num_workers=1, prefetch_factor=4), prepare=limit)
        self.assertEqual(ran.lines, run("mnist").lines)
        row = ran.knob("num_workers")
        self.assertEqual((row["value"], row["may"], row["why"]), (0, False, "no more processes"))

    def test_data_set_that_cannot_go_to_workers(self):
        self.same("spawn", num_workers=1, refused=["num_workers"])

    def test_what_needs_a_gpu_or_ranks(self):
        values = dict(pin_memory=True, tf32=True, cudnn_benchmark=True, attention="flash", ddp_bucket_cap_mb=50)
        self.same("mnist", refused=list(values), **values)

    @unittest.skipIf(hasattr(torch, "compile"), "this PyTorch has what is refused here")
    def test_what_came_with_pytorch_2(self):
        values = dict(optimizer_implementation="fused", compile="default")
        ran = self.same("mnist", refused=list(values), **values)
        self.assertEqual(ran.knob("compile")["why"], "this PyTorch has no torch.compile")
        self.same("grouped_parameters", optimizer_implementation="fused", refused=["optimizer_implementation"])

    def test_unknown_knob(self):
        ran = run("settings", hook=knobs(speed=11))
        self.assertEqual(ran.knob("speed")["why"], "there is no such knob")

    def test_the_program_sets_it_itself(self):
        ran = self.same("settings", num_threads=2, refused=["num_threads"])
        self.assertEqual(ran.knob("num_threads")["value"], 1)

    def test_own_autocast(self):
        self.same("evaluation_mode", precision="bf16", refused=["precision"])

    def test_a_model_that_is_given_up_is_not_kept(self):
        self.assertEqual(self.same("given_up_model", channels_last=True).lines, ["gone True"])

    def test_a_layout_that_the_model_does_not_take(self):
        # Noise and statistics of the failed forward do not count.
        ran = self.same("view_after_convolution", channels_last=True, refused=["channels_last"])
        row = ran.knob("channels_last")
        self.assertEqual((row["today"], row["value"]), (False, False))
        self.assertIn("view_after_convolution.py:33: view size is not compatible", row["why"])
        applied = run("view_after_convolution", hook=settings("apply", knobs={"channels_last": True}))
        self.assertEqual(applied.status, 0, applied.output)
        self.assertIn("channels_last=True could not be set: the model does not take it", applied.output)

    def test_a_layout_that_a_later_forward_does_not_take(self):
        for ways in (["later"], ["later", "replaced"]):
            with self.subTest(ways):
                ran = run("view_after_convolution", *ways, hook=knobs(channels_last=True))
                self.assertEqual(ran.status, 0, ran.output)
                self.assertIn("view size is not compatible", ran.knob("channels_last")["why"])
                *means_and_variances, forwards = json.loads(ran.lines[-1])
                *untouched, expected = json.loads(run("view_after_convolution", *ways).lines[-1])
                self.assertEqual(forwards, expected, "statistics of the forward that failed count once")
                for got, of_untouched in zip(means_and_variances, untouched):
                    for one, other in zip(got, of_untouched):
                        self.assertAlmostEqual(one, other, places=5)

    def test_layers_that_the_program_puts_in_later(self):
        ran = run("view_after_convolution", "replaced", hook=knobs(channels_last=True))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertTrue(ran.knob("channels_last")["value"])
        self.assertEqual(ran.lines[-2], "True", "they have the layout")
        refused = run("view_after_convolution", "replaced", "volume", hook=knobs(channels_last=True))
        self.assertEqual(refused.status, 0, refused.output)
        self.assertIn("tensors of five dimensions", refused.knob("channels_last")["why"])
        self.assertEqual(refused.lines[-2], "False")

    def test_a_layout_that_the_model_does_not_take_under_its_own_autocast(self):
        self.same("view_after_convolution", "autocast", channels_last=True, refused=["channels_last"])

    def test_nothing_of_a_forward_that_failed_counts(self):
        self.same("state_in_forward", "view", channels_last=True, refused=["channels_last"])

    def test_weights_that_share_their_memory(self):
        self.same("state_in_forward", "shared", channels_last=True, refused=["channels_last"])

    def test_an_error_of_the_program_is_its_own(self):
        ran = run("view_after_convolution", "fails", hook=knobs(channels_last=True))
        self.assertNotEqual(ran.status, 0)
        self.assertEqual(ran.output.count("RuntimeError: view size is not compatible"), 1)


class NumericKnobs(Knobs):
    def test_bfloat16(self):
        for name in ("mnist", "accumulation", "trainer_style", "lightning_style"):
            ran = run(name, hook=knobs(precision="bf16"))
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.knob("precision")["value"], "bf16")
            untouched = self.losses(run(name))
            self.assertNotEqual(self.losses(ran), untouched)
            self.assertEqual(len(self.losses(ran)), len(untouched))
            for loss, other in zip(self.losses(ran), untouched):
                self.assertAlmostEqual(loss, other, delta=0.05 * abs(other) + 0.05)

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_compiled(self):
        self.close_to_untouched("accumulation", 1e-3, compile="default")
        # Compiled dropout draws different random numbers.
        self.close_to_untouched("mnist", 0.1, compile="default")

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_without_a_compiler_on_the_machine_nothing_is_compiled(self):
        nowhere = {"PATH": "/nowhere", "CXX": "", "CC": ""}
        ran = run("accumulation", hook=knobs(compile="default"), environment=nowhere)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(self.losses(ran), self.losses(run("accumulation")))
        self.assertIn("needs a C++ compiler", ran.knob("compile")["why"])

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_layers_that_the_program_puts_in_later_are_compiled(self):
        layers = ("view_after_convolution", 1e-3, "replaced")
        self.close_to_untouched(*layers, compile="default")
        self.close_to_untouched(*layers, compile="default", channels_last=True)

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_a_compiled_model_that_does_not_take_a_layout_later(self):
        requested = knobs(compile="default", channels_last=True)
        for ways in (["later"], ["later", "replaced"]):
            with self.subTest(ways):
                ran = run("view_after_convolution", *ways, hook=requested)
                self.assertEqual(ran.status, 0, ran.output)
                self.assertIn("view size is not compatible", ran.knob("channels_last")["why"])
                self.assertEqual(ran.knob("compile")["value"], "default")
                untouched = run("view_after_convolution", *ways)
                self.assertEqual(len(self.losses(ran)), len(self.losses(untouched)))
                for loss, other in zip(self.losses(ran), self.losses(untouched)):
                    self.assertAlmostEqual(loss, other, delta=1e-3 * abs(other) + 1e-5)
                counted, expected = (json.loads(of.lines[-1])[2] for of in (ran, untouched))
                self.assertEqual(counted, expected, "statistics count once")

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_what_a_program_compiles_is_compiled_as_without_the_hook(self):
        for way, graphs in (("later", 1), ("function", 2), ("in_place", 2), ("layers", 0)):
            with self.subTest(way):
                ran = self.same("compiled", way)
                self.assertEqual(ran.lines[-1], "%d graphs" % graphs)
                today = "off" if way in ("later", "function") else "default"
                row = ran.knob("compile")
                self.assertEqual((row["today"], row["may"]), (today, today == "off"), row)

    @unittest.skipUnless(hasattr(torch, "compile"), "in PyTorch 1 they are for GPUs alone")
    def test_fused_optimizer(self):
        for name in ("vae", "gan", "accumulation"):
            self.close_to_untouched(name, 1e-3, optimizer_implementation="fused")

    def close_to_untouched(self, name, relative, *arguments, **values):
        ran = run(name, *arguments, hook=knobs(**values))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        for knob, value in values.items():
            self.assertEqual(ran.knob(knob).get("value"), value, ran.knob(knob))
        untouched = self.losses(run(name, *arguments))
        self.assertTrue(untouched)
        self.assertEqual(len(self.losses(ran)), len(untouched))
        for loss, other in zip(self.losses(ran), untouched):
            self.assertAlmostEqual(loss, other, delta=relative * abs(other) + 1e-5)

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_what_a_program_does_not_compile_is_not_compiled_today(self):
        row = run("mnist", hook=settings("survey")).knob("compile")
        self.assertEqual((row["today"], row["value"], row["may"]), ("off", "off", True), row)

    def test_modes_of_compilation_that_are_tried_without_a_gpu(self):
        tried = run("mnist", hook=settings("survey")).knob("compile")["choices"]
        self.assertEqual(tried, ["off", "default", "max-autotune-no-cudagraphs"])
        known = next(knob for knob in read_table("pytorch") if knob["name"] == "compile")["parameter"]["choices"]
        self.assertEqual(set(known) - set(tried), {"reduce-overhead", "max-autotune"})

    def test_tf32(self):
        # By default convolutions use TF32, and products of matrices do not.
        own = torch.backends.cudnn.allow_tf32
        process = ProcessKnobs({"tf32": True})
        with unittest.mock.patch.object(torch.cuda, "is_available", return_value=True):
            with unittest.mock.patch.object(torch.cuda, "get_device_capability", return_value=(9, 0)):
                process.settle()
                self.assertEqual(self.tf32_row(process), (False, True, None))
                process.switch({})
                self.assertEqual(self.tf32_row(process), (False, False, None))
                self.assertEqual(torch.backends.cudnn.allow_tf32, own)
                # From PyTorch 2.9 on, if the program has used the newer interface.
                mixed = unittest.mock.PropertyMock(side_effect=RuntimeError("mix of the legacy and new APIs"))
                with unittest.mock.patch.object(type(torch.backends.cudnn), "allow_tf32", mixed):
                    row = self.tf32_row(ProcessKnobs({}))
        self.assertEqual(row, (None, None, "the program sets the precision of fp32 itself"))

    def tf32_row(self, process):
        row = next(row for row in process.statuses() if row.name == "tf32")
        return row.today, row.value, row.why

    def test_denormals(self):
        self.same("mnist", flush_denormal=True)


class Node:
    """Fake node of autograd's graph."""

    def __init__(self, name, *before):
        self._name = name
        self.next_functions = [(node, 0) for node in before]

    def name(self):
        return self._name


class Attention(unittest.TestCase):
    def test_is_found_by_its_kernel_wherever_it_stands(self):
        shared = Node("AccumulateGrad")
        plain = Node("NllLossBackward0", Node("AddmmBackward0", shared, Node("ViewBackward0", shared)), None)
        self.assertFalse(self.may_lead_to(plain))
        kernel = Node("ScaledDotProductEfficientAttentionBackward0", shared)
        self.assertTrue(self.may_lead_to(Node("NllLossBackward0", Node("AddmmBackward0", kernel), plain)))

    def test_may_hide_in_what_is_written_in_python(self):
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x * 2

            @staticmethod
            def backward(context, gradient):
                return gradient * 2

        x = torch.ones(3, requires_grad=True)
        self.assertFalse(attention.may_lead_to([(x * 2).sum()]))
        self.assertTrue(attention.may_lead_to([Own.apply(x).sum()]))
        self.assertFalse(attention.may_lead_to([torch.ones(1), None, "rubbish"]))

    @unittest.skipUnless(hasattr(torch.nn.functional, "scaled_dot_product_attention"), "this PyTorch has none")
    def test_is_found_in_a_real_graph(self):
        x = torch.ones(1, 2, 8, 16, requires_grad=True)
        attended = torch.nn.functional.scaled_dot_product_attention(x, x, x)
        self.assertTrue(attention.may_lead_to([attended.sum()]))

    def test_is_looked_for_in_the_first_steps_only(self):
        knobs_of_process = ProcessKnobs({})
        with unittest.mock.patch.object(attention, "may_lead_to", return_value=False) as look:
            for _ in range(100):
                knobs_of_process.backward_begins([torch.ones(1)])
        self.assertLess(look.call_count, 20)

    @unittest.skipUnless(hasattr(torch.backends.cuda, "enable_cudnn_sdp"), "this PyTorch has no kernel of cuDNN")
    def test_a_chosen_kernel_is_the_only_one(self):
        def enabled():
            kernels = ("flash", "mem_efficient", "math", "cudnn")
            return [kernel for kernel in kernels if getattr(torch.backends.cuda, kernel + "_sdp_enabled")()]

        before = enabled()
        knobs_of_process = ProcessKnobs({"attention": "math"})
        with unittest.mock.patch.object(torch.cuda, "is_available", return_value=True):
            knobs_of_process.settle()
            self.assertEqual(enabled(), ["math"])
            knobs_of_process.switch({})
        self.assertEqual(enabled(), before)

    def may_lead_to(self, node):
        loss = torch.ones(1)
        graph = unittest.mock.PropertyMock(return_value=node)
        with unittest.mock.patch.object(torch.Tensor, "grad_fn", graph):
            return attention.may_lead_to([loss])


class SemanticKnobs(Knobs):
    def test_batch_size(self):
        ran = run("mnist", hook=knobs(batch_size=40))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (6, 240))
        row = ran.knob("batch_size")
        self.assertEqual((row["today"], row["value"], row["may"]), (16, 40, True))

    def test_batch_size_of_arguments_without_names(self):
        positional = run("worker_init", hook=knobs(batch_size=20))
        self.assertEqual(positional.steps[-1]["step"], 6)

    def test_batch_size_of_a_loader_with_a_sampler(self):
        ran = run_fresh([program("ddp")], knobs(batch_size=8))
        self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (4, 64), ran.output)
        row = ran.knob("batch_size")
        self.assertEqual((row["today"], row["value"], row["may"]), (4, 8, True), row)

    def test_batch_size_is_offered_only_where_it_can_be_set(self):
        for requested in (settings("survey"), knobs(batch_size=8)):
            row = run("augmented", hook=requested).knob("batch_size")
            self.assertEqual((row["today"], row["value"], row["may"]), (4, 4, False), row)
            self.assertIn("may not be for training", row["why"])

    def test_batch_size_of_a_loader_that_accelerate_makes_anew(self):
        for way in ("subclass", "adapter"):
            row = run("accelerate_style", "--loader", way, hook=knobs()).knob("batch_size")
            self.assertEqual((row["today"], row["value"], row["may"]), (4, 4, True), row)
            ran = run("accelerate_style", "--loader", way, hook=knobs(batch_size=8))
            self.assertEqual(ran.status, 0, ran.output)
            row = ran.knob("batch_size")
            self.assertEqual((row["today"], row["value"], row["may"]), (4, 8, True), row)
            # Two passes of six batches, two a step.
            self.assertEqual((ran.steps[-1]["step"], ran.steps[-1]["samples"]), (6, 88))

    def test_batch_size_of_an_own_batch_sampler(self):
        self.same("batch_sampler", batch_size=8, refused=["batch_size"])


class Recomputation(Knobs):
    """Tests blocks whose activations the backward computes again."""

    def recomputed(self, kind):
        ran = run("blocks", kind, hook=knobs(activation_checkpointing=True))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        # The last line shows how much is kept.
        self.assertEqual(ran.lines[:-1], run("blocks", kind).lines[:-1])
        return ran

    def refused(self, kind):
        row = self.recomputed(kind).knob("activation_checkpointing")
        self.assertFalse(row["may"], row)
        return row

    def test_losses_parameters_and_statistics_are_the_same_with_dropout(self):
        ran = self.recomputed("usual")
        row = ran.knob("activation_checkpointing")
        self.assertEqual((row["today"], row["value"], row["may"]), (False, True, True), row)
        self.assertEqual(ran.steps[-1]["step"], 6)

    def test_less_is_kept_for_the_backward(self):
        ran, usual = (run("blocks", "large", hook=knobs(activation_checkpointing=value)) for value in (True, False))
        self.assertEqual(ran.lines[:-1], usual.lines[:-1])
        kept, usually_kept = (int(of.lines[-1].split()[-1]) for of in (ran, usual))
        self.assertGreater(usually_kept, 6 * 4 * 4096 * 64 * 4)  # each block keeps at least four times its input
        self.assertLess(kept, 0.05 * usually_kept)

    def test_what_cannot_be_computed_again_is_refused_by_name(self):
        self.assertIn("Block writes into its inputs", self.refused("in_place")["why"])
        self.assertIn("Block computes with buffers that it changes", self.refused("spectral")["why"])
        self.assertIn("no nn.Sequential or nn.ModuleList", self.refused("no_blocks")["why"])
        self.assertIn("Block is given an object that it may change", self.refused("cache")["why"])

    def test_an_input_that_is_written_to_after_its_block_ends_the_run(self):
        self.assertEqual(run("blocks", "overwritten").status, 0)
        ran = run("blocks", "overwritten", hook=knobs(activation_checkpointing=True))
        self.assertEqual(ran.status, 1)
        self.assertIn("an input of Block was written to after its forward", ran.output)

    def test_the_program_does_it_itself(self):
        row = self.recomputed("own").knob("activation_checkpointing")
        self.assertEqual((row["today"], row["value"], row["may"]), (True, True, True), row)
        self.assertTrue(row["where"][0].endswith(" checkpoint"), row)

    def test_checkpoints_of_the_program_are_left_out(self):
        def blocks_computed(ran):
            return int(ran.lines[-1].split()[2])

        for kind in ("own", "reentrant"):
            with self.subTest(kind):
                usual, ran = run("blocks", kind), run("blocks", kind, hook=knobs(activation_checkpointing=False))
                self.assertEqual(ran.status, 0, ran.output)
                row = ran.knob("activation_checkpointing")
                self.assertEqual((row["today"], row["value"], row["may"]), (True, False, True), row)
                # Six blocks in six steps and an evaluation. With the checkpoints the backward computes them again.
                self.assertEqual((blocks_computed(usual), blocks_computed(ran)), (78, 42))
                # Normalisation counts statistics at each computation, so only these differ.
                compared = ("loss", "blocks.0.inner", "blocks.5.outer")
                lines, usual_lines = ([line for line in r.lines if line.startswith(compared)] for r in (ran, usual))
                self.assertEqual(len(lines), 10)
                self.assertEqual(lines, usual_lines)

    def test_a_checkpoint_stays_whose_block_would_otherwise_train(self):
        ran = run("blocks", "untrained", hook=knobs(activation_checkpointing=False))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run("blocks", "untrained").lines)
        row = ran.knob("activation_checkpointing")
        self.assertEqual((row["today"], row["value"], row["may"]), (True, True, False), row)
        self.assertIn("the block would train", row["why"])

    def test_in_another_precision(self):
        ran = run("blocks", "usual", hook=knobs(activation_checkpointing=True, precision="bf16"))
        self.assertEqual(ran.status, 0, ran.output)
        for knob, value in (("activation_checkpointing", True), ("precision", "bf16")):
            row = ran.knob(knob)
            self.assertEqual((row.get("value"), row["may"]), (value, True), row)
        plain = run("blocks", "usual", hook=knobs(precision="bf16"))
        self.assertEqual(ran.lines[:-1], plain.lines[:-1])

    def test_of_ranks(self):
        self.same("ddp", activation_checkpointing=True, refused=["activation_checkpointing"])


class AttentionImplementation(Knobs):
    """Tests how models of transformers compute attention."""

    def refused(self, value, *kind):
        row = self.same("attention_style", *kind, attention_implementation=value, refused=["attention_implementation"])
        return row.knob("attention_implementation")

    def test_the_model_computes_as_requested(self):
        ran = run("attention_style", hook=knobs(attention_implementation="sdpa"))
        self.assertEqual(ran.status, 0, ran.output)
        row = ran.knob("attention_implementation")
        self.assertEqual((row["today"], row["value"], row["may"]), ("eager", "sdpa", True), row)
        self.assertEqual(ran.lines[1::2], ["used sdpa"] * 12)
        losses, untouched = self.losses(ran), self.losses(run("attention_style"))
        self.assertEqual(len(losses), 12)
        for loss, other in zip(losses, untouched):
            self.assertAlmostEqual(loss, other, delta=1e-4 * other)

    def test_a_faster_implementation_is_offered(self):
        row = run("attention_style", hook=knobs()).knob("attention_implementation")
        self.assertEqual((row["today"], row["choices"], row["where"]), ("eager", ["eager", "sdpa"], []), row)
        row = run("attention_style", "eager only", hook=knobs()).knob("attention_implementation")
        self.assertEqual(row["choices"], ["eager"], row)
        self.assertFalse(run("mnist", hook=knobs()).knob("attention_implementation")["may"])

    def test_what_the_model_does_not_take_leaves_all_its_parts_as_they_were(self):
        row = self.refused("sdpa", "eager only")
        self.assertEqual((row["value"], row["why"]), ("eager", "Model does not support sdpa"))
        self.assertIn("does not take it", self.refused("flash_attention_2")["why"])

    def test_an_implementation_without_a_name_in_the_table_stays(self):
        row = self.refused("sdpa", "flex")
        self.assertEqual((row["today"], row["value"]), ("flex_attention", "flex_attention"), row)
        self.assertIn("computes attention by flex_attention", row["why"])

    def test_programs_that_depend_on_it_are_refused(self):
        for kind in ("reads", "asks"):
            self.assertIn("reads the weights of attention", self.refused("sdpa", kind)["why"])
        self.assertIn("in several ways", self.refused("sdpa", "mixed")["why"])
        self.assertIn("when it is made", self.refused("sdpa", "old")["why"])


class KnobsOfTheEnvironment(Knobs):
    def test_an_allocator_is_applied_if_it_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            # The linker loads any library of that name.
            library = "libjemalloc.so.2"
            subprocess.run(["cc", "-shared", "-o", os.path.join(folder, library), "-x", "c", os.devnull], check=True)
            here = {"LD_LIBRARY_PATH": folder}
            offered = run_fresh([program("mnist")], hook=knobs(), environment=here).knob("malloc")
            self.assertIn("jemalloc", offered["choices"])
            self.assertEqual((offered["today"], offered["may"]), ("default", True))
            preloaded = dict(here, LD_PRELOAD=library)
            ran = run_fresh([program("mnist")], hook=knobs(), environment=preloaded)
            self.assertEqual(ran.knob("malloc")["value"], "jemalloc")
            self.assertEqual(ran.lines, run("mnist").lines)
            other = os.path.join(folder, "libtcmalloc.so")
            os.rename(os.path.join(folder, library), other)
            own = run_fresh([program("mnist")], hook=knobs(), environment={"LD_PRELOAD": other}).knob("malloc")
            self.assertFalse(own["may"], own)
            self.assertIn("LD_PRELOAD is set to", own["why"])

    def test_an_allocator_that_is_not_installed_is_neither_offered_nor_applied(self):
        none = run_fresh([program("mnist")], hook=knobs(), environment={"LD_PRELOAD": "libtcmalloc_minimal.so.4"})
        row = none.knob("malloc")
        if "tcmalloc" in row["choices"]:
            self.assertEqual(row["value"], "tcmalloc")  # it is installed on this machine
        else:
            self.assertEqual(row["value"], "default")
            self.assertEqual(row["why"], "libtcmalloc_minimal.so.4 is not installed")

    @unittest.skipIf(huge_pages.why_not() is not None, "this machine gives no huge pages on request")
    def test_huge_pages_have_an_effect_if_the_kernel_gave_some(self):
        table = {knob["name"]: knob for knob in read_table("pytorch")}
        variables = dict(table["malloc"]["environment"]["hugepages"])
        variables["GLIBC_TUNABLES"] = "glibc.rtld.nns=8:" + variables["GLIBC_TUNABLES"]
        ran = run_fresh([program("mnist")], hook=knobs(), environment=variables)
        self.assertEqual(ran.knob("malloc")["value"], "hugepages")
        self.assertEqual(ran.lines, run("mnist").lines)
        none = run("mnist", hook=knobs(), environment=variables)  # set after the allocator has read its variables
        self.assertEqual(none.knob("malloc")["value"], "default")

    def test_huge_pages_are_offered_where_they_would_come(self):
        def choices(modes, glibc="glibc 2.36", brings=()):
            files = {"_text": lambda path: modes if path == huge_pages._MODES else ""}
            with unittest.mock.patch.multiple(huge_pages, **files), unittest.mock.patch.object(
                os, "confstr", return_value=glibc
            ), unittest.mock.patch.object(preload, "_loaded", return_value=set(brings)):
                row = next(row for row in EnvironmentKnobs(read_table("pytorch"), libraries.why_not).statuses() if row.name == "malloc")
                return row.choices if row.why is None else row.why

        self.assertIn("hugepages", choices("always [madvise] never"))
        self.assertNotIn("hugepages", choices("[always] madvise never"))
        self.assertNotIn("hugepages", choices("always madvise [never]"))
        self.assertNotIn("hugepages", choices("always [madvise] never", glibc="glibc 2.34"))
        self.assertNotIn("hugepages", choices("always [madvise] never", glibc="none"))
        jemalloc = ["/opt/lib/libjemalloc.so.2"]
        self.assertEqual(choices("always [madvise] never", brings=jemalloc), ["default", "hugepages"])
        self.assertEqual(choices("[always] madvise never", brings=jemalloc), "the program brings libjemalloc.so.2")

    def test_what_is_set_cannot_be_unset(self):
        def wait_policy(value):
            return run("settings", hook=knobs(), environment={"OMP_WAIT_POLICY": value}).knob("omp_wait_policy")

        set_row = wait_policy("PASSIVE")
        self.assertEqual((set_row["today"], set_row["choices"]), ("passive", ["active", "passive"]))
        other = wait_policy("none of them")
        self.assertEqual(other["today"], "default")
        self.assertNotIn("choices", other)
        self.assertEqual(other["why"], "OMP_WAIT_POLICY is none of them, which is none of the knob's values")

    def nccl(self, backend="nccl", ranks=4, version=(2, 26, 2), **variables):
        """Returns the rows of NCCL's knobs where ranks train on GPUs."""
        fakes = {
            "is_initialized": lambda: ranks > 0,
            "get_world_size": lambda: ranks,
            "get_backend_config": lambda: backend,
        }
        gpu = unittest.mock.patch.object(torch.cuda, "is_available", return_value=True)
        group = unittest.mock.patch.multiple(torch.distributed, create=True, **fakes)
        library = unittest.mock.patch.object(torch.cuda.nccl, "version", return_value=version)
        with gpu, group, library, unittest.mock.patch.dict(os.environ, variables):
            rows = EnvironmentKnobs(read_table("pytorch"), libraries.why_not).statuses()
            return {row.name: row for row in rows if row.name.startswith("nccl_")}

    def test_nccl_is_offered_to_ranks_on_gpus(self):
        for backend in ("nccl", "cpu:gloo,cuda:nccl"):
            for name, row in self.nccl(backend).items():
                self.assertEqual((row.why, row.today), (None, "default"), name)
        for rows, why in (
            (self.nccl("cpu:gloo,cuda:gloo"), "the ranks communicate by cpu:gloo,cuda:gloo, not by NCCL"),
            (self.nccl(ranks=1), "torch.distributed connects no ranks"),
            (self.nccl(ranks=0), "torch.distributed connects no ranks"),
        ):
            self.assertEqual({row.why for row in rows.values()}, {why})
            self.assertEqual(len(rows), 4)
        for name in ("mnist", "ddp"):
            self.assertFalse(run(name, hook=knobs()).knob("nccl_algorithm")["may"])

    def test_nccl_needs_a_version_with_algorithms_for_one_collective(self):
        rows = self.nccl(version=(2, 21, 5))
        self.assertEqual(
            rows["nccl_algorithm"].why, "NCCL 2.21 takes no algorithm for one collective; NCCL 2.24 does"
        )
        self.assertIsNone(rows["nccl_channels"].why)

    def test_variables_of_nccl_that_are_set_count(self):
        for knob in read_table("pytorch"):
            if not knob["name"].startswith("nccl_"):
                continue
            for value, variables in knob["environment"].items():
                row = self.nccl(**variables)[knob["name"]]
                self.assertEqual((row.today, row.why), (value, None))
        rows = self.nccl(NCCL_ALGO="Ring", NCCL_PROTO="LL128", NCCL_MAX_NCHANNELS="4")
        self.assertEqual((rows["nccl_algorithm"].today, rows["nccl_algorithm"].choices), ("ring", ["ring", "tree"]))
        self.assertEqual(rows["nccl_protocol"].why, "NCCL_PROTO is LL128, which is none of the knob's values")
        self.assertEqual(rows["nccl_channels"].why, "NCCL_MAX_NCHANNELS is 4, which is none of the knob's values")

    def openblas_threads_with(self, **variables):
        def prepare():
            for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
                os.environ.pop(name, None)
            os.environ.update(variables)

        return run("mnist", hook=knobs(), prepare=prepare).knob("openblas_threads")["today"]

    def test_threads_of_openblas_are_those_that_it_would_take(self):
        self.assertEqual(self.openblas_threads_with(OMP_NUM_THREADS="3,2"), 3)
        self.assertEqual(self.openblas_threads_with(GOTO_NUM_THREADS="5", OMP_NUM_THREADS="3"), 5)
        self.assertEqual(self.openblas_threads_with(OPENBLAS_NUM_THREADS="7", OMP_NUM_THREADS="3"), 7)
        self.assertEqual(self.openblas_threads_with(OMP_NUM_THREADS="0"), len(os.sched_getaffinity(0)))


class ApplyMode(Knobs):
    def test_says_nothing(self):
        ran = run("mnist", hook=settings("apply", knobs={"num_workers": 1}))
        self.assertEqual(ran.reports + ran.events, [])
        self.assertEqual(ran.lines, run("mnist").lines)

    def test_warns_once_of_settings_without_effect(self):
        ran = run("batch_sampler", hook=settings("apply", knobs={"batch_size": 8, "set_to_none": True}))
        warnings = [line for line in ran.lines if line.startswith("steptune: ")]
        self.assertEqual(len(warnings), 1, ran.output)
        self.assertIn("batch_size=8 could not be set: ", warnings[0])

    def test_tells_steps_if_asked(self):
        ran = run("mnist", hook=settings("apply", knobs={"precision": "bf16"}, interval_s=0))
        self.assertEqual((len(ran.steps), ran.events), (15, []))
        trial = run("mnist", hook=knobs(precision="bf16"))
        self.assertEqual(ran.lines, trial.lines, "the long run computes what the trial did")


if __name__ == "__main__":
    unittest.main()
