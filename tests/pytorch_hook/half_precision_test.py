# SPDX-License-Identifier: Apache-2.0
"""Tests fp16 with a loss that the hook scales: programs print the same as with their own GradScaler."""

import sys
import unittest

import torch

from harness import HOOK, free_port, launch_environment, run, settings, start
from live_test import Live, switch
from reports_test import has_cloudpickle, replace_scalers

sys.path.append(HOOK)
from steptune_hook.pytorch.knobs.scaled_gradients import FiniteGradients, ScaleFactor  # noqa: E402

HALF = settings("report", interval_s=0, knobs={"precision": "fp16"})
COMPUTES_HALF = hasattr(torch.amp, "GradScaler")  # True if a CPU can compute in fp16 (PyTorch 2)


class AutocastOfGpu:
    """Fake autocast that accepts fp16 on a CPU, as on a GPU, and computes in 32 bits."""

    def __init__(self, device, dtype=None):
        self._enabled, self.fast_dtype = True, dtype

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class ScalerOfGpu:
    """Fake of torch.cuda.amp.GradScaler on a GPU, with its defaults."""

    def __init__(self, _=None):
        self.factor, self.good_steps, self.bad, self.unscaled = 2.0**16, 0, set(), set()

    def scale(self, outputs):
        return outputs * self.factor

    def unscale_(self, optimizer):
        self.unscaled.add(optimizer)
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for gradient in gradients:
            gradient.mul_(1.0 / self.factor)
        if not all(gradient.isfinite().all() for gradient in gradients):
            self.bad.add(optimizer)

    def step(self, optimizer):
        if optimizer not in self.unscaled:
            self.unscale_(optimizer)
        if optimizer not in self.bad:
            optimizer.step()

    def update(self):
        self.good_steps = 0 if self.bad else self.good_steps + 1
        if self.bad:
            self.factor /= 2
        elif self.good_steps == 2000:
            self.factor *= 2
            self.good_steps = 0
        self.bad, self.unscaled = set(), set()


def have_half():
    """On PyTorch 1, whose autocast has no fp16 on a CPU, uses fakes of the GPU's."""
    if not COMPUTES_HALF:
        torch.autocast = AutocastOfGpu
        torch.cuda.amp.GradScaler = ScalerOfGpu


class Optimizer:
    """Fake optimizer, one of several that share a scale factor."""


class FactorOfLoss(unittest.TestCase):
    def factor_after(self, *steps):
        factor = ScaleFactor()
        for optimizer, are_finite in steps:
            factor.backward_begins()
            factor.stepped(optimizer, are_finite)
        return factor.value

    def test_begins_as_a_grad_scaler_s(self):
        self.assertEqual(self.factor_after(), 65536.0)

    def test_is_halved_by_each_bad_step(self):
        one = Optimizer()
        self.assertEqual(self.factor_after((one, False)), 32768.0)
        self.assertEqual(self.factor_after((one, False), (one, True), (one, False)), 16384.0)

    def test_is_halved_once_by_optimizers_of_one_loss(self):
        factor = ScaleFactor()
        for _ in range(2):
            factor.backward_begins()
            for optimizer in (Optimizer(), Optimizer()):
                factor.stepped(optimizer, False)
        self.assertEqual(factor.value, 16384.0)

    def test_is_doubled_after_2000_good_steps_in_a_row(self):
        one, other = Optimizer(), Optimizer()
        self.assertEqual(self.factor_after(*[(one, True)] * 1999), 65536.0)
        self.assertEqual(self.factor_after(*[(one, True)] * 2000), 131072.0)
        self.assertEqual(self.factor_after(*[(one, True)] * 3999), 131072.0)
        self.assertEqual(self.factor_after(*[(one, True)] * 4000), 262144.0)
        self.assertEqual(self.factor_after(*[(one, True)] * 1999, (one, False), *[(one, True)] * 1999), 32768.0)
        self.assertEqual(self.factor_after(*[(one, True), (other, True)] * 1999), 65536.0)
        self.assertEqual(self.factor_after(*[(one, True), (other, True)] * 2000), 131072.0)

    def test_stays_a_power_of_two_that_can_be_divided_by(self):
        one = Optimizer()
        for are_finite, steps in ((False, 500), (True, 2000 * 120)):
            value = torch.tensor(self.factor_after(*[(one, are_finite)] * steps))
            self.assertEqual((value * (1.0 / value)).item(), 1.0)


class Finite(unittest.TestCase):
    def test_tells_infinities_and_what_is_no_number_anywhere(self):
        sparse = torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,))
        gradients = [torch.ones(3), torch.full((2, 2), 3e38), torch.zeros(()), sparse]
        finite = FiniteGradients()
        self.assertTrue(finite.are_all(gradients))
        self.assertTrue(finite.are_all([]))
        for bad in (float("inf"), -float("inf"), float("nan")):
            self.assertFalse(finite.are_all([*gradients, torch.tensor([0.0, bad])]))
            self.assertFalse(finite.are_all([torch.sparse_coo_tensor([[1]], [bad], (3,)), *gradients]))
        self.assertEqual(gradients[0].tolist(), [1.0, 1.0, 1.0])


class HalfPrecision(unittest.TestCase):
    def half(self, name, *arguments, hook=HALF, **how):
        ran = run(name, *arguments, hook=hook, before_hook=have_half, **how)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        return ran

    def applied_run(self, name, *arguments):
        ran = self.half(name, *arguments)
        row = ran.knob("precision")
        self.assertEqual((row["value"], row["may"]), ("fp16", True), row)
        return ran

    def untouched(self, name, *arguments):
        ran = run(name, *arguments, before_hook=have_half)
        self.assertEqual(ran.status, 0, ran.output)
        return ran


class ScaledLoss(HalfPrecision):
    def test_as_with_a_scaler_of_its_own(self):
        ways = ("", "clip", "accumulate", "accumulate clip overflows", "two", "two overflows", "penalty", "closure")
        for way in (*ways, "overflows", "closure overflows", "frozen", "recomputes"):
            with self.subTest(way):
                ran = self.applied_run("half_precision", *way.split())
                self.assertEqual(ran.lines, self.untouched("half_precision", "own", *way.split()).lines)
                self.assertNotEqual(ran.lines, self.untouched("half_precision", *way.split()).lines)

    def test_a_hook_of_the_program_sees_gradients_of_their_true_size(self):
        ran = self.applied_run("half_precision", "hooked")
        norms = [float.fromhex(line.split()[4]) for line in ran.lines if line.startswith("norms")]
        self.assertTrue(all(0 < norm <= 1.001e-8 * 8**0.5 for norm in norms), norms)

    def test_what_is_told(self):
        ran = self.applied_run("half_precision", "overflows")
        losses = [line.split()[1] for line in ran.lines if line.startswith("loss")]
        norms = [line for line in ran.lines if line.startswith("norm")]
        left_out = [index for index, line in enumerate(norms) if "nan" in line or "inf" in line]
        self.assertTrue({5, 11} <= set(left_out) and len(left_out) < 9, left_out)
        last = ran.steps[-1]
        self.assertEqual((last["skipped_steps"], last["step"]), (len(left_out), 48 - len(left_out)))
        self.assertEqual(last["samples"], 48 * 4)
        reported = [report["loss"].hex() for report in ran.steps]
        self.assertEqual(reported, [loss for index, loss in enumerate(losses) if index not in left_out])

    @unittest.skipIf(COMPUTES_HALF, "with stand-ins that compute in 32 bits")
    def test_no_bit_is_lost_by_scaling(self):
        for name in ("mnist", "vae", "accumulation", "trainer_style", "lightning_style", "gan", "many_steps"):
            with self.subTest(name):
                self.assertEqual(self.applied_run(name).lines, self.untouched(name).lines)

    @unittest.skipUnless(COMPUTES_HALF, "the autocast of this PyTorch has no fp16 on a CPU")
    def test_losses_are_near_those_of_32_bits(self):
        for name in ("mnist", "accumulation", "trainer_style", "lightning_style"):
            with self.subTest(name):
                ran, untouched = self.applied_run(name), self.untouched(name)
                losses, others = (
                    [float.fromhex(line.split()[1]) for line in of.lines if line.startswith("loss")]
                    for of in (ran, untouched)
                )
                self.assertNotEqual(losses, others)
                self.assertEqual(len(losses), len(others))
                for loss, other in zip(losses, others):
                    self.assertAlmostEqual(loss, other, delta=0.05 * abs(other) + 0.05)

    @unittest.skipUnless(has_cloudpickle(), "joblib brings it")
    def test_what_is_pickled_by_value_goes_without_the_hook(self):
        ran = self.applied_run("by_value")
        self.assertTrue(ran.lines[-1].startswith("loaded "), ran.output)

    def test_with_other_knobs(self):
        plain = self.applied_run("mnist").lines
        requested = {"precision": "fp16", "num_workers": 1, "set_to_none": True, "optimizer_implementation": "foreach"}
        ran = self.half("mnist", hook=settings("report", interval_s=0, knobs=requested))
        self.assertEqual(ran.knob("precision")["value"], "fp16")
        self.assertEqual(ran.lines, plain)

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_compiled(self):
        requested = settings("report", interval_s=0, knobs={"precision": "fp16", "compile": "default"})
        ran = self.half("accumulation", hook=requested)
        for knob, value in (("precision", "fp16"), ("compile", "default")):
            self.assertEqual(ran.knob(knob)["value"], value, ran.knob(knob))
        for report, plain in zip(ran.steps, self.applied_run("accumulation").steps):
            self.assertAlmostEqual(report["loss"], plain["loss"], delta=0.01)

    def test_the_long_run_computes_what_the_trial_did(self):
        trial = self.applied_run("half_precision", "overflows")
        long_run = self.half("half_precision", "overflows", hook=settings("apply", knobs={"precision": "fp16"}))
        self.assertEqual((long_run.lines, long_run.reports), (trial.lines, []))

    def test_nothing_is_replaced_where_it_is_not_asked_for(self):
        def tell():
            import atexit

            atexit.register(lambda: print("replaced", hasattr(torch.Tensor.register_hook, "steptune")))

        for precision, expected in (("bf16", False), ("fp16", True)):
            ran = self.half("mnist", hook=settings("report", knobs={"precision": precision}), prepare=tell)
            self.assertEqual(ran.lines[-1], "replaced %s" % expected)


class RefusedHalf(HalfPrecision):
    def refused(self, why, name, *arguments, **how):
        """The knob is refused, and the program runs unchanged from its first step."""
        ran = self.half(name, *arguments, **how)
        row = ran.knob("precision")
        self.assertFalse(row["may"], row)
        self.assertIn(why, row["why"])
        self.assertEqual(row["value"], row["today"])
        if not COMPUTES_HALF:
            self.assertEqual(ran.lines, run(name, *arguments, before_hook=have_half, **how).lines)
        return ran

    def test_by_what_the_program_does_with_gradients(self):
        for way, why in {
            "within": "looks at gradients within the model",
            "retained": "looks at gradients within the model",
            "module_hook": "looks at gradients within the model",
            "attack": "gradients of tensors that are no parameters",
            "fresh shift": "gradients of tensors that are no parameters",
            "create_graph": "create_graph",
            "some": "for some tensors alone",
            "grad": "torch.autograd.grad",
            "double": "parameters are float64",
            "anomalies": "detects anomalies",
            "strict": "ends if the norm of gradients is not finite",
            "autocast": "the program uses autocast itself",
            "threads": "several threads train at once",
            "two_losses": "TwoLosses may call its closure several times",
        }.items():
            with self.subTest(way):
                self.refused(why, "odd_gradients", *way.split())

    def test_of_other_gradients_those_of_their_true_size(self):
        for way in ("seeded", "several", "shift", "sparse"):
            ran = self.applied_run("odd_gradients", way)
            if not COMPUTES_HALF:
                self.assertEqual(ran.lines, self.untouched("odd_gradients", way).lines)

    def test_by_how_it_trains(self):
        self.refused("no optimizer", "no_optimizer")
        self.refused("LBFGS", "lbfgs")
        self.refused("uses autocast itself", "evaluation_mode")
        for way in ("caller", "engine"):
            self.refused("steps within the backward", "step_in_backward", way)

    def test_a_scaler_of_the_program(self):
        def scalers():
            have_half()
            replace_scalers()

        ran = run("scaler", hook=HALF, before_hook=scalers)
        self.assertIn("has a GradScaler itself", ran.knob("precision")["why"])
        if not COMPUTES_HALF:
            self.assertEqual(ran.lines, run("scaler", before_hook=scalers).lines)

    @unittest.skipIf(COMPUTES_HALF, "this PyTorch has it")
    def test_a_cpu_whose_autocast_has_no_fp16(self):
        ran = run("mnist", hook=HALF)
        self.assertIn("has no fp16 on the device cpu", ran.knob("precision")["why"])
        self.assertEqual(ran.lines, run("mnist").lines)

    def test_the_long_run_says_so(self):
        ran = self.half("odd_gradients", "grad", hook=settings("apply", knobs={"precision": "fp16"}))
        self.assertIn("precision=fp16 could not be set: the program takes gradients by torch.autograd.grad", ran.output)


class LiveHalf(Live):
    def test_is_not_switched_between_two_steps(self):
        messages = self.same("mnist", switches=[switch(5, 1, precision="fp16"), switch(9, 0)])
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "precision"]
        whys = [row.get("why") for row in rows]
        self.assertEqual([row["value"] for row in rows], ["fp32"] * len(rows))
        self.assertIn("fp16 skips steps until its loss scale is found, so it cannot be switched on between two steps", whys)
        self.assertTrue(rows[-1]["may"], rows[-1])


class OfferedHalf(HalfPrecision):
    def row(self, name, *arguments, device, computes_bf16):
        def prepare():
            from steptune_hook.pytorch.modules import Modules

            have_half()
            Modules.device = lambda modules: device
            torch.cuda.is_bf16_supported = lambda including_emulation=True: computes_bf16 or including_emulation

        ran = run(name, *arguments, hook=settings("survey"), prepare=prepare)
        self.assertEqual(ran.status, 0, ran.output)
        return ran.knob("precision")

    def test_where_a_gpu_has_no_bfloat16(self):
        for device, computes_bf16, choices in (
            ("cpu", False, ["fp32", "bf16"]),
            ("cuda", True, ["fp32", "bf16"]),
            ("cuda", False, ["fp32", "fp16"]),
        ):
            row = self.row("mnist", device=device, computes_bf16=computes_bf16)
            self.assertEqual((row["choices"], row["may"], row["today"]), (choices, True, "fp32"), row)

    def test_bfloat16_on_the_cpu_beside_a_gpu_that_lacks_it(self):
        def have_old_gpu():
            torch.cuda.is_available = lambda: True
            torch.cuda.is_bf16_supported = lambda including_emulation=True: False

        ran = run("mnist", hook=settings(knobs={"precision": "bf16"}), prepare=have_old_gpu)
        row = ran.knob("precision")
        self.assertEqual((ran.status, row["value"], row["may"]), (0, "bf16", True), ran.output)

    def test_what_shows_that_it_would_be_refused(self):
        for program, why in ((["no_optimizer"], "no optimizer"), (["odd_gradients", "module_hook"], "within the model")):
            row = self.row(*program, device="cuda", computes_bf16=False)
            self.assertFalse(row["may"], row)
            self.assertIn(why, row["why"])


class HalfOfRanks(HalfPrecision):
    def ranks(self, name, *arguments, hook=HALF):
        port = free_port()
        ranks = [
            start(name, *arguments, hook=hook, before_hook=have_half, environment=launch_environment(rank, 2, port))
            for rank in range(2)
        ]
        ran = [rank.wait() for rank in ranks]
        self.assertEqual([rank.status for rank in ran], [0, 0], "\n".join(rank.output for rank in ran))
        return ran

    def test_leave_out_the_same_steps(self):
        for way in ("overflows", "clip overflows", "accumulate overflows"):
            with self.subTest(way):
                ran = self.ranks("half_precision", *way.split())
                self.assertEqual(ran[0].knob("precision")["value"], "fp16")
                own = self.ranks("half_precision", "own", *way.split(), hook=None)
                self.assertEqual([rank.lines for rank in ran], [rank.lines for rank in own])
                self.assertEqual(ran[0].lines[-1], ran[1].lines[-1])
                self.assertGreater(ran[0].steps[-1]["skipped_steps"], 1)

    def test_that_average_by_hand_are_refused(self):
        ran = self.ranks("half_precision", "by_hand")
        self.assertIn("do not average gradients by DistributedDataParallel", ran[0].knob("precision")["why"])

    def test_of_a_program_that_knows_one_process(self):
        ran, plain = (
            self.ranks("one_process", hook=settings("report", interval_s=0, knobs=dict(requested, distributed_strategy="ddp")))
            for requested in ({"precision": "fp16"}, {})
        )
        self.assertEqual(ran[0].knob("precision")["value"], "fp16", ran[0].knob("precision"))
        losses, others = ([r["loss"] for r in of[0].steps] for of in (ran, plain))
        self.assertEqual(len(losses), len(others))
        for loss, other in zip(losses, others):
            self.assertAlmostEqual(loss, other, delta=0.02 if COMPUTES_HALF else 0.0)


if __name__ == "__main__":
    unittest.main()
