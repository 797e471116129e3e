# SPDX-License-Identifier: Apache-2.0
"""Tests the reports on programs that the hook leaves unchanged."""

import importlib.util
import os
import unittest

import torch

from harness import run, settings

SURVEY = settings("survey", interval_s=0)


class ScalerOfCpu:
    """Fake of torch.cuda.amp.GradScaler, which PyTorch 1 has only for a GPU."""

    def scale(self, outputs):
        return [self.scale(o) for o in outputs] if isinstance(outputs, list) else outputs * 1024.0

    def step(self, optimizer, *arguments):
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        for gradient in gradients:
            gradient.div_(1024.0)
        if all(gradient.isfinite().all() for gradient in gradients):
            optimizer.step(*arguments)

    def update(self):
        pass


def has_cloudpickle():
    joblib = importlib.util.find_spec("joblib")
    return joblib is not None and os.path.isdir(os.path.join(os.path.dirname(joblib.origin), "externals", "cloudpickle"))


def replace_scalers():
    for package in (torch.cuda.amp, getattr(torch, "amp", None)):
        if hasattr(package, "GradScaler"):
            package.GradScaler = ScalerOfCpu


class Untouched(unittest.TestCase):
    """Checks that programs print the same with the hook as without."""

    def check(self, name, *arguments, steps, samples=None, samples_by="loader"):
        ran = run(name, *arguments, hook=SURVEY)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run(name, *arguments).lines)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.steps[-1]["step"], steps)
        self.assertEqual(ran.steps[-1].get("samples"), samples)
        self.assertEqual(ran.event("program")["samples_by"], samples_by)
        self.check_lines(ran)
        return ran

    def check_lines(self, ran):
        """Checks that counters and clocks grow, and that parts add up to the time between steps without phases."""
        clocks = [report["clock"] for report in ran.reports]
        self.assertEqual(clocks, sorted(clocks))
        self.assertEqual([r["step"] for r in ran.steps], list(range(1, len(ran.steps) + 1)))
        first, last = ran.steps[0], ran.steps[-1]
        ended = [p for p in ran.phases if "seconds" in p and p["clock"] <= last["clock"]]
        apart_s = sum(phase["seconds"] for phase in ended)
        elapsed_s = last["clock"] - first["clock"] - apart_s
        parts_s = sum(last["parts"].values()) - sum(first["parts"].values())
        self.assertAlmostEqual(parts_s, elapsed_s, delta=1e-4 + 0.01 * elapsed_s)

    def losses(self, ran):
        return [float.fromhex(line.split()[1]) for line in ran.lines if line.startswith("loss")]

    def test_image_classifier(self):
        ran = self.check("mnist", steps=15, samples=240)
        self.assertEqual([r["loss"] for r in ran.steps], self.losses(ran))
        self.assertEqual(ran.event("losses")["first"], [repr(x) for x in self.losses(ran)[:8]])
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)
        self.assertEqual(len(ran.phases_ended("checkpoint")), 1)
        loaders = [e for e in ran.events if e["event"] == "loader"]
        trains = {e["where"]: e["training"] for e in loaders}
        self.assertEqual(list(trains.values()), [True, False])
        self.assertGreater(ran.steps[-1]["parts"]["backward"], 0)
        self.assertGreater(ran.steps[-1]["parts"]["data"], 0)

    def test_auto_encoder(self):
        ran = self.check("vae", steps=18, samples=288)
        self.assertEqual([r["loss"] for r in ran.steps], self.losses(ran))
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)
        self.assertEqual(len(ran.phases_ended("checkpoint")), 3)

    def test_two_optimizers_are_one_step(self):
        ran = self.check("gan", steps=16, samples=128)
        self.assertEqual(ran.event("program")["backwards_per_step"], 3)
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)

    def test_optimizers_that_train_one_after_the_other(self):
        ran = self.check("clients", steps=60, samples=240)
        self.assertEqual([r["samples"] for r in ran.steps], list(range(4, 241, 4)))
        self.assertEqual([r["loss"] for r in ran.steps], self.losses(ran))

    def test_a_network_that_is_frozen_at_first(self):
        ran = self.check("frozen_at_first", steps=16, samples=128)
        self.assertEqual(ran.event("program")["roots"], ["Discriminator", "Generator"])
        # Samples of the generator's optimizer, which has the most.
        self.check("frozen_at_first", "twice", steps=24, samples=128)

    def test_accumulated_gradients(self):
        ran = self.check("accumulation", steps=12, samples=192, samples_by="forward")
        for report, loss in zip(ran.steps, self.losses(ran)):
            self.assertAlmostEqual(report["loss"], loss, places=5)
        self.assertEqual(ran.event("program")["backwards_per_step"], 4)
        # The first evaluation is before the first step, so it is part of the start-up.
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)
        self.assertEqual(len(ran.phases_ended("checkpoint")), 2)

    def test_steps_that_a_scaler_skips(self):
        for arguments in ((), ("pair",), ("list",), ("made",), ("subclass",)):
            with self.subTest(arguments):
                self.check_scaled(*arguments)

    def check_scaled(self, *arguments):
        ran = run("scaler", *arguments, hook=SURVEY, before_hook=replace_scalers)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run("scaler", *arguments, before_hook=replace_scalers).lines)
        # The second and the fifth of six steps are skipped, but their samples were seen.
        self.assertEqual([r["step"] for r in ran.steps], [1, 2, 3, 4])
        self.assertEqual([r["samples"] for r in ran.steps], [8, 24, 32, 48])
        self.assertEqual([r.get("skipped_steps", 0) for r in ran.steps], [0, 1, 1, 2])
        losses = self.losses(ran)
        reported = [r["loss"] for r in ran.steps]
        for loss, first in zip(reported, (0, 4, 6, 10)):
            self.assertAlmostEqual(loss, losses[first] + losses[first + 1], places=5)

    def test_states_from_which_actions_are_chosen(self):
        """States that a policy is asked about are no samples although gradients are enabled, since no backward follows."""
        for way, steps in (("dqn", 30), ("clipped", 30), ("sac", 30), ("views", 30), ("freely", 120)):
            with self.subTest(way):
                self.check("replay_buffer", way, steps=steps, samples=16 * steps, samples_by="forward")
        self.check("replay_buffer", "episodes", steps=12, samples=sum(range(5, 17)), samples_by="forward")

    def test_what_two_networks_are_given_counts_once(self):
        # 40 states in each of four rounds, used twice. Collecting them is reported as a phase from the second round on.
        ran = self.check("actor_critic", steps=24, samples=320, samples_by="forward")
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)

    def test_modules_called_one_after_another_count_the_samples_once(self):
        self.check("modules_in_turn", steps=20, samples=80, samples_by="forward")

    def test_no_optimizer(self):
        ran = self.check("no_optimizer", steps=60, samples=240, samples_by="forward")
        self.assertEqual(ran.event("program")["counts"], "backward")
        self.assertEqual(len(ran.phases_ended("checkpoint")), 2)

    def test_closure(self):
        # A pass over 20 samples for each of the 40 evaluations of the closure.
        ran = self.check("lbfgs", steps=4, samples=800, samples_by="forward")
        self.assertTrue(ran.event("program")["closure"])
        parts = ran.steps[-1]["parts"]
        self.assertGreater(parts["forward"], 0)
        self.assertGreater(parts["optimizer"], 0)

    def test_lightning_style(self):
        ran = self.check("lightning_style", steps=12, samples=120)
        self.assertTrue(ran.event("program")["closure"])
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)

    def test_trainer_style(self):
        ran = self.check("trainer_style", steps=12, samples=96)
        self.assertEqual(ran.event("program")["optimizers"], ["AdamW"])
        self.assertEqual(ran.event("program")["backwards_per_step"], 2)
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)

    def test_accelerate_style(self):
        # 11 batches of 4 in each of two passes: 6 steps, the last of which has only one batch.
        for way in ("subclass", "adapter"):
            with self.subTest(way):
                ran = self.check("accelerate_style", "--loader", way, steps=12, samples=88)
                self.check_accelerated(ran)
                self.assertEqual(len(ran.phases_ended("evaluation")), 2)
                self.assertEqual(len(ran.phases_ended("checkpoint")), 1)
                self.assertEqual((ran.knob("num_workers")["today"], ran.knob("num_workers")["may"]), (0, True))
                self.assertEqual((ran.knob("batch_size")["today"], ran.knob("batch_size")["may"]), (4, True))
                trained_on = [e for e in ran.events if e["event"] == "loader" and e["training"]]
                self.assertEqual({(e["length"], e["batch_size"]) for e in trained_on}, {(11, 4)})

    def check_accelerated(self, ran):
        self.assertEqual(ran.event("program")["optimizers"], ["AdamW"])
        self.assertEqual(ran.event("program")["backwards_per_step"], 2)
        in_pass = [8, 16, 24, 32, 40, 44]
        self.assertEqual([r["samples"] for r in ran.steps], in_pass + [44 + samples for samples in in_pass])
        losses = self.losses(ran)
        batches = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
        batches += [[11 + batch for batch in of_step] for of_step in batches]
        for report, of_step in zip(ran.steps, batches):
            self.assertAlmostEqual(report["loss"], sum(losses[batch] / 2 for batch in of_step), places=5)
        parts = ran.steps[-1]["parts"]
        for part in ("data", "forward", "backward", "optimizer"):
            self.assertGreater(parts[part], 0, part)

    def test_accelerate_style_with_evaluations_amid_a_pass(self):
        ran = self.check("accelerate_style", "--evaluate-every", "4", steps=12, samples=88)
        self.check_accelerated(ran)
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)

    def test_accelerate_style_in_its_own_precision(self):
        ran = self.check("accelerate_style", "--mixed-precision", "bf16", steps=12, samples=88)
        self.check_accelerated(ran)
        self.assertEqual((ran.knob("precision")["today"], ran.knob("precision")["may"]), ("bf16", False))

    def test_accelerate_style_with_a_scaler(self):
        arguments = ("accelerate_style", "--mixed-precision", "fp16", "--not-finite", "4", "13")
        ran = run(*arguments, hook=SURVEY, before_hook=replace_scalers)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run(*arguments, before_hook=replace_scalers).lines)
        self.assertEqual(sum(line == "skipped True" for line in ran.lines), 2)
        # The second and the seventh of twelve steps are skipped.
        self.assertEqual([r["step"] for r in ran.steps], list(range(1, 11)))
        self.assertEqual([r.get("skipped_steps", 0) for r in ran.steps], [0] + [1] * 4 + [2] * 5)
        self.assertEqual([r["samples"] for r in ran.steps][:3], [8, 24, 32])
        self.assertEqual(ran.steps[-1]["samples"], 88)
        self.assertAlmostEqual(ran.steps[0]["loss"], sum(self.losses(ran)[:2]) / 2, places=5)

    def samples_fetched(self, way, steps, samples):
        ran = self.check("fetched_ahead", way, steps=steps, samples=samples)
        self.assertEqual(ran.event("loader")["samples"], 14)
        return [r["samples"] for r in ran.steps]

    def test_micro_batches_that_are_fetched_together_count_where_they_are_trained_on(self):
        for way, steps in (("usual", 16), ("single", 44), ("double", 16), ("twice", 16), ("stopped", 8)):
            with self.subTest(way):
                ran = self.check("step_fetched_ahead", way, steps=steps, samples=self.printed_samples(way)[-1])
                self.assertEqual([r["samples"] for r in ran.steps], self.printed_samples(way))
        # All micro-batches of a step are one forward, so the first step counts the batch of the next step, too.
        self.check("step_fetched_ahead", "joined", steps=16, samples=168)

    def printed_samples(self, way):
        return [int(line.split()[1]) for line in run("step_fetched_ahead", way).lines]

    def test_a_batch_that_is_fetched_ahead_counts_where_it_is_trained_on(self):
        # Samples of the batches in each pass: 4, 4, 4 and 2.
        of_passes = [4, 8, 12, 14, 18, 22, 26, 28, 32, 36, 40, 42]
        self.assertEqual(self.samples_fetched("endless", 9, 32), of_passes[:9])
        self.assertEqual(self.samples_fetched("two_models", 12, 42), of_passes)
        self.assertEqual(self.samples_fetched("both", 12, 42), of_passes)
        self.assertEqual(self.samples_fetched("accumulate", 5, 36), of_passes[1:10:2])

    def test_what_a_pass_that_is_given_up_has_fetched_is_not_trained_on(self):
        for way in ("broken", "limited"):
            self.assertEqual(self.samples_fetched(way, 6, 24), [4, 8, 12, 16, 20, 24])

    def test_a_batch_that_is_fetched_between_a_forward_and_its_step_is_for_the_next_one(self):
        ran = self.check("half_step", "ahead", steps=15, samples=120)
        self.assertEqual([r["samples"] for r in ran.steps], list(range(8, 121, 8)))

    def test_two_batches_for_one_forward_count_both(self):
        # The second step shows that each step uses several batches.
        self.assertEqual(self.samples_fetched("pairs", 6, 42), [4, 14, 22, 28, 36, 42])
        self.assertEqual(self.samples_fetched("joined", 6, 42), [8, 14, 22, 28, 36, 42])

    def test_two_batches_for_one_step_count_both_where_passes_have_no_other(self):
        # The second step shows that the second batch is not for the next step.
        self.assertEqual(self.samples_fetched("tasks", 6, 48), [4, 16, 24, 32, 40, 48])

    def test_batches_that_are_kept(self):
        # 4 samples were fetched for the first step, and 2 of them are trained on in each later one.
        self.check("kept_batches", "one", steps=12, samples=4 + 11 * 2, samples_by="forward")
        self.check("kept_batches", "unseen", steps=12, samples=48, samples_by="forward")
        for way in ("cycle", "persistent"):
            self.check("kept_batches", way, steps=12, samples=48, samples_by="forward")
        self.check("kept_batches", "repeated", steps=12, samples=16)

    def test_batches_that_are_fetched_without_gradients(self):
        for way in ("generator", "copies", "teacher"):
            with self.subTest(way):
                ran = self.check("without_gradients", way, steps=18, samples=72)
                knob = ran.knob("num_workers")
                self.assertEqual((knob["today"], knob["may"]), (0, True))
                self.assertEqual(knob["where"], ["without_gradients.py:14 DataLoader"])
                self.assertIs(ran.event("loader")["training"], True)

    def test_batches_that_are_only_looked_at(self):
        for way, samples in (("look", 54), ("evaluation", 72)):
            with self.subTest(way):
                ran = self.check("without_gradients", way, steps=18, samples=samples, samples_by="forward")
                self.assertFalse(ran.knob("num_workers")["may"])
                self.assertIs(ran.event("loader")["training"], False)

    def test_samples_that_are_in_no_first_dimension(self):
        for way in ("lists", "items", "sequences", "views", "pairs"):
            ran = self.check("collated", way, steps=6, samples=22)
            self.assertEqual(ran.event("loader")["batch_size"], 4)

    def test_batches_that_the_data_set_makes(self):
        ran = self.check("made_batches", steps=12, samples=96)
        loader = ran.event("loader")
        self.assertEqual((loader["length"], loader["batch_size"]), (6, 8))
        self.assertNotIn("samples", loader)

    def test_evaluations_between_the_micro_batches_of_a_step(self):
        ran = self.check("evaluates_within_a_step", steps=15, samples=120)
        ended = ran.phases_ended("evaluation")
        self.assertEqual(len(ended), 6)
        self.assertGreater(min(phase["seconds"] for phase in ended), 0.04)
        # The eighth step has an evaluation of 60 ms in its middle. The forward before it counts as training.
        eighth, seventh = (sum(ran.steps[step]["parts"].values()) for step in (7, 6))
        self.assertLess(eighth - seventh, 0.03)
        forward_s = [report["parts"]["forward"] for report in ran.steps]
        self.assertGreater(forward_s[7], forward_s[6])

    def test_arguments_of_a_trainer_are_named_in_place_of_its_lines(self):
        ran = self.check("training_arguments", steps=12, samples=48)
        row = ran.knob("num_workers")
        self.assertEqual((row["may"], row["today"], row["where"]), (True, 0, []))
        self.assertEqual(row["edit"], {"call": "OwnArguments", "argument": "dataloader_num_workers={value}"})
        self.assertEqual(ran.knob("precision")["edit"]["argument"]["bf16"], "bf16=True")
        self.assertEqual(ran.knob("batch_size")["edit"]["argument"], "per_device_train_batch_size={value}")
        # The arguments lack these fields.
        for knob in ("prefetch_factor", "compile", "num_threads"):
            self.assertNotIn("edit", ran.knob(knob))
        self.assertTrue(ran.knob("prefetch_factor")["where"])
        self.assertNotIn("edit", run("mnist", hook=SURVEY).knob("num_workers"))

    def test_a_batch_size_that_a_trainer_computes_is_not_its_argument(self):
        ran = self.check("training_arguments", "other batches", steps=12, samples=48)
        self.assertIn("edit", ran.knob("num_workers"))
        self.assertNotIn("edit", ran.knob("batch_size"))

    def test_arguments_of_lightning_and_accelerate_are_named(self):
        ran = self.check("training_arguments", "lightning", steps=12, samples=48)
        self.assertEqual(ran.knob("precision")["edit"]["call"], "Trainer")
        self.assertEqual(ran.knob("ddp_static_graph")["edit"], {"call": "DDPStrategy", "argument": "static_graph={value}"})
        self.assertNotIn("edit", ran.knob("num_workers"))
        ran = self.check("training_arguments", "accelerate", steps=12, samples=48)
        self.assertEqual(ran.knob("precision")["edit"]["call"], "Accelerator")
        self.assertEqual(ran.knob("compile")["edit"]["argument"]["default"], 'dynamo_backend="inductor"')
        self.assertEqual(ran.knob("ddp_bucket_cap_mb")["edit"]["call"], "DistributedDataParallelKwargs")
        self.assertNotIn("edit", ran.knob("num_workers"))

    def test_files_of_safetensors_are_checkpoints(self):
        ran = self.check("safetensors_style", steps=12, samples=48, samples_by="forward")
        ended = ran.phases_ended("checkpoint")
        self.assertEqual(len(ended), 2)
        # The time between the two files of a checkpoint belongs to it, not to a step.
        self.assertGreater(min(phase["seconds"] for phase in ended), 0.12)
        other_s = [report["parts"]["other"] for report in ran.steps]
        self.assertLess(other_s[5] - other_s[4], 0.1)

    @unittest.skipUnless(has_cloudpickle(), "joblib brings it")
    def test_models_pickled_by_value_load_without_the_hook(self):
        for arguments in ((), ("scaler",)):
            with self.subTest(arguments):
                self.check("by_value", *arguments, steps=12, samples=48, samples_by="forward")

    def test_batches_that_are_looked_at_alone(self):
        for way in ("peek", "statistics", "other", "pictures", "size", "sizes", "unseen"):
            with self.subTest(way):
                ran = self.check("looked_at", way, steps=12, samples=48)
                self.assertEqual([r["samples"] for r in ran.steps], list(range(4, 49, 4)))
                loaders = {e["batch_size"]: e["training"] for e in ran.events if e["event"] == "loader"}
                self.assertEqual(loaders, {4: True, 8: False})

    def test_batches_of_one_step_each_of_which_has_a_pass_of_its_own(self):
        self.check("looked_at", "tasks", steps=8, samples=64)

    def test_samples_of_batches_that_are_no_tensors(self):
        for way in ("object", "slots", "keys", "boxes", "arrays", "listed", "texts", "nested", "unbatched"):
            with self.subTest(way):
                self.check("odd_batches", way, steps=6, samples=22)
        for way in ("given", "traced", "complex"):
            with self.subTest(way):
                self.check("odd_batches", way, steps=6, samples=22, samples_by="forward")

    def test_an_optimizer_that_steps_within_the_backward(self):
        for way in ("caller", "engine"):
            with self.subTest(way):
                ran = self.check("step_in_backward", way, steps=24, samples=96)
                self.assertEqual([r["loss"] for r in ran.steps], self.losses(ran))
                self.assertGreater(ran.steps[-1]["parts"]["optimizer"], 0)

    def test_gradients_are_released_if_a_step_within_the_backward_ends_their_observation(self):
        def observe_few_steps():
            import atexit

            from steptune_hook.pytorch import hook, received_gradients

            received_gradients._FIRST_STEPS = 3
            atexit.register(lambda: print("let go", hook.installed.progress.received.before is None))

        ran = run("step_in_backward", "caller", "clears", hook=SURVEY, prepare=observe_few_steps)
        self.assertEqual(ran.lines[-1], "let go True", ran.output)

    def test_losses_of_a_great_many_backwards_are_not_kept(self):
        def at_most_three():
            from steptune_hook.pytorch import backward

            backward.MOST_BACKWARDS = 3

        ran = run("accumulation", hook=SURVEY, prepare=at_most_three)
        self.assertEqual(ran.steps[-1]["step"], 12)
        self.assertFalse([r for r in ran.steps if "loss" in r], "four in each step")

    def test_unknown_losses_are_reported_as_none(self):
        ran = run("many_steps", "own_gradients", hook=SURVEY)
        self.assertEqual(ran.event("losses")["first"], ["None"] * 8)

    def test_training_in_another_thread(self):
        for way in ("all", "loop"):
            ran = self.check("threads", way, steps=24, samples=96)
            self.assertTrue(ran.knob("num_workers")["may"])

    def test_batches_that_another_thread_loads(self):
        ran = run("threads", "batches", hook=SURVEY)
        self.assertEqual(ran.lines, run("threads", "batches").lines)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.steps[-1]["step"], 24)
        # The first forward may be missed, while a batch is loaded.
        self.assertEqual(ran.steps[-1]["samples"] - ran.steps[0].get("samples", 0), 92)

    def test_evaluation_of_another_module(self):
        ran = self.check("inner_evaluation", "inner", steps=24, samples=96)
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)
        # The evaluation shows because its batches are fetched without gradients.
        ran = self.check("inner_evaluation", "copy", steps=24, samples=96)
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)
        self.assertEqual(ran.knob("num_workers")["where"], ["inner_evaluation.py:21 DataLoader"])

    def test_an_evaluation_between_a_batch_and_its_forward(self):
        ran = self.check("first_evaluation", steps=12, samples=48)
        self.assertEqual([r["samples"] for r in ran.steps], list(range(4, 49, 4)))
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)
        self.assertTrue(ran.knob("num_workers")["may"])
        trains = {e["where"]: e["training"] for e in ran.events if e["event"] == "loader"}
        self.assertEqual(list(trains.values()), [True, False])

    def test_evaluation_of_averaged_weights(self):
        # Nothing trains these weights, and their batches are fetched like those of training.
        ran = self.check("inner_evaluation", "average", steps=24, samples=96)
        self.assertEqual(len(ran.phases_ended("evaluation")), 3)
        self.assertEqual(ran.knob("num_workers")["where"], ["inner_evaluation.py:21 DataLoader"])

    def test_evaluation_as_in_training(self):
        """Evaluates in training mode and with gradients: only the missing backward shows it."""
        for way, evaluations in (("first", 4), ("calibrate", 0), ("within", 8), ("after", 4), ("own", 4)):
            with self.subTest(way):
                ran = self.check("evaluates_as_it_trains", way, steps=24, samples=96)
                self.assertEqual([r["samples"] for r in ran.steps], list(range(4, 97, 4)))
                # The evaluation before the first step is part of the start-up.
                self.assertEqual(len(ran.phases_ended("evaluation")), evaluations)
                self.assertEqual(ran.knob("num_workers")["where"], ["evaluates_as_it_trains.py:12 DataLoader"])
        ran = self.check("evaluates_as_it_trains", "whole", steps=4, samples=96)
        self.assertEqual([r["samples"] for r in ran.steps], [24, 48, 72, 96])

    def test_passes_that_belong_to_one_step(self):
        for way, samples in (("bags", 24), ("two", 32), ("by_hand", 24), ("episodes", 12)):
            with self.subTest(way):
                ran = self.check("passes_before_a_step", way, steps=6, samples=6 * samples)
                self.assertEqual([r["samples"] for r in ran.steps], list(range(samples, 6 * samples + 1, samples)))
                self.assertEqual(ran.phases_ended("evaluation"), [])

    def test_batches_of_one_tensor_with_time_first(self):
        self.check("time_first", steps=12, samples=48)

    def test_an_evaluation_whose_forwards_are_not_seen(self):
        for way, where in (("method", ":42"), ("copy", ":50"), ("method slow-start", ":42"), ("copy slow-start", ":50")):
            with self.subTest(way):
                ran = self.check("unseen_evaluation", *way.split(), steps=24, samples=96)
                self.assertEqual([r["samples"] for r in ran.steps], list(range(4, 97, 4)))
                # No step follows the last evaluation.
                self.assertEqual(len(ran.phases_ended("evaluation")), 7)
                loaders = {e["where"][-3:]: e["training"] for e in ran.events if e["event"] == "loader"}
                self.assertEqual((loaders[":40"], loaders[where]), (True, None))

    def test_transforms_of_the_class_of_the_model_are_no_evaluation(self):
        ran = self.check("augmented", steps=24, samples=96)
        self.assertEqual(ran.phases, [])

    def test_like_loaders_made_in_one_place(self):
        ran = self.check("like_loaders", steps=12, samples=48)
        knob = ran.knob("num_workers")
        self.assertEqual((knob["today"], knob["may"]), (0, True))
        self.assertEqual(knob["where"], ["like_loaders.py:9 DataLoader"])
        self.assertIs(ran.event("loader")["training"], True)

    def test_lines_in_the_middle_of_a_step_are_those_of_the_step_before(self):
        self.check("half_step", steps=15, samples=120)
        ran = run("half_step", hook=settings("survey", interval_s=1000))
        self.assertEqual([(r["step"], r["samples"]) for r in ran.steps], [(1, 8), (12, 96), (15, 120)])
        first, second, last = ran.steps
        saved_s = ran.phases_ended("checkpoint")[0]["seconds"]
        for before, after, apart_s in ((first, second, 0.0), (second, last, saved_s)):
            parts_s = sum(after["parts"].values()) - sum(before["parts"].values())
            self.assertAlmostEqual(parts_s, after["clock"] - before["clock"] - apart_s, places=4)

    def test_own_batch_sampler(self):
        ran = self.check("batch_sampler", steps=20, samples=80)
        self.assertFalse(ran.knob("num_workers")["may"])
        self.assertIn("order of samples", ran.knob("num_workers")["why"])
        self.assertFalse(ran.knob("batch_size")["may"])

    def test_a_sampler_that_counts_its_batches_by_drawing_them(self):
        ran = self.check("counted_batches", steps=80, samples=320)
        self.assertTrue(ran.knob("num_workers")["may"])

    def test_iterable_data_set(self):
        ran = self.check("iterable", steps=10, samples=80)
        self.assertFalse(ran.knob("num_workers")["may"])
        self.assertIn("iterable", ran.knob("num_workers")["why"])
        self.check("iterable", "sized", steps=10, samples=80)

    def test_generators_and_workers(self):
        ran = self.check("worker_init", steps=15, samples=120)
        knob = ran.knob("num_workers")
        self.assertEqual((knob["today"], knob["may"]), (1, True))
        self.assertEqual(knob["where"], ["worker_init.py:19 DataLoader"])

    def test_persistent_workers(self):
        self.check("persistent", steps=15, samples=120)

    def test_passes_of_a_loader_that_keeps_one_endless_iterator(self):
        self.check("endless_loader", steps=15, samples=120)

    def test_changing_data_set(self):
        self.check("changing_data", steps=9, samples=72)

    def test_an_iterator_that_is_made_early(self):
        ran = self.check("early_iterator", steps=9, samples=72)
        self.assertEqual(len(ran.phases_ended("epoch_end")), 2)
        self.assertGreater(ran.steps[-1]["parts"]["other"], 0.1)

    def test_a_teacher_is_no_evaluation(self):
        ran = self.check("teacher", steps=20, samples=80)
        self.assertLessEqual(len(ran.phases_ended("evaluation")), 3)

    def test_training_in_evaluation_mode(self):
        ran = self.check("evaluation_mode", steps=12, samples=48)
        self.assertEqual(ran.phases, [])
        precision = ran.knob("precision")
        self.assertEqual((precision["today"], precision["may"]), ("bf16", False))
        self.assertEqual(precision["where"], ["evaluation_mode.py:12 autocast"])

    def test_a_forward_that_is_not_seen_is_no_preparing_of_a_batch(self):
        ran = self.check("own_forward", steps=10, samples=40, samples_by="loader")
        parts = ran.steps[-1]["parts"]
        self.assertEqual(parts["prepare"], 0)
        self.assertGreater(parts["other"], 0)

    def test_own_settings(self):
        ran = self.check("settings", steps=5, samples=20, samples_by="forward")
        self.assertEqual(ran.knob("optimizer_implementation")["today"], "foreach")

    def test_samples_that_are_given(self):
        ran = run("mnist", hook=settings("survey", interval_s=0, samples_per_step=7))
        self.assertEqual(ran.steps[-1]["samples"], 105)
        self.assertEqual(ran.event("program")["samples_by"], "given")

    def test_few_lines_of_fast_steps(self):
        ran = run("mnist", "40", hook=settings("survey"))
        self.assertEqual(ran.steps[-1]["step"], 200)
        # One line before each phase, the first, the last, and four per second between.
        phases = len(ran.phases_ended("evaluation")) + len(ran.phases_ended("checkpoint"))
        self.assertLess(len(ran.steps), 3 + phases + 4 * ran.steps[-1]["clock"])
        self.assertLess(len(ran.steps), 100)

    def assert_each_step_counts_once(self, ran):
        # On a slow machine, some steps between the first and the last are reported, too.
        self.assertEqual([ran.steps[0]["step"], ran.steps[-1]["step"]], [1, 5])
        for report in ran.steps:
            self.assertEqual(report["samples"], 4.0 * report["step"])

    def test_own_reporter(self):
        ran = run("own_reporter", hook=SURVEY)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.event("program")["reporter"], "program")
        self.assert_each_step_counts_once(ran)

    def test_a_program_that_only_reads_a_study_is_reported_by_the_hook(self):
        ran = run("asks_study", hook=SURVEY)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual([r["step"] for r in ran.steps], [2, 3, 4, 5])

    def test_a_program_that_reads_a_study_and_reports_is_counted_once(self):
        ran = run("asks_study", "--report", hook=SURVEY)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.event("program")["reporter"], "program")
        self.assert_each_step_counts_once(ran)


if __name__ == "__main__":
    unittest.main()
