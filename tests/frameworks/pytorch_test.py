# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hook with today's trainers: scripts/frameworks pytorch. Skipped where the trainers are not installed."""

import importlib.util
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "pytorch_hook"))
TRAINERS = ("torch", "transformers", "lightning")
ARE_INSTALLED = all(importlib.util.find_spec(name) is not None for name in TRAINERS)
if ARE_INSTALLED:
    from harness import run_fresh, settings

SAFE = {"num_workers": 2, "prefetch_factor": 4, "persistent_workers": True, "gc": "every_50", "num_interop_threads": 1}
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}


@unittest.skipUnless(ARE_INSTALLED, "scripts/frameworks pytorch installs the trainers")
class Trainers(unittest.TestCase):
    def run_program(self, name, *arguments, hook=None):
        path = os.path.join(HERE, "programs", name + ".py")
        return run_fresh([path, *arguments], hook=hook, environment=ENVIRONMENT, timeout_s=600)

    def check(self, name, *arguments):
        """Runs a program with safe knobs. It must print what it prints without the hook."""
        untouched = self.run_program(name, *arguments)
        self.assertEqual(untouched.status, 0, untouched.output)
        ran = self.run_program(name, *arguments, hook=settings(interval_s=0, knobs=SAFE))
        self.assertEqual(ran.lines, untouched.lines)
        self.assertIsNone(ran.event("disabled"))
        for knob, value in SAFE.items():
            row = ran.knob(knob)
            self.assertEqual((row["may"], row["value"]), (True, value), row)
        self.assertIn("steps %d" % ran.steps[-1]["step"], untouched.lines)
        return ran

    def test_transformers_trainer(self):
        ran = self.check("pytorch_trainer", "3")
        # 11 batches of 4 in each epoch, the last of 2 samples.
        self.assertEqual([r["samples"] for r in ran.steps], [12, 24, 36, 42, 54, 66, 78, 84])
        self.assertEqual(len(ran.phases_ended("evaluation")), 2)
        self.assertEqual(len(ran.phases_ended("checkpoint")), 2)
        edit = ran.knob("num_workers")["edit"]
        self.assertEqual(edit, {"call": "TrainingArguments", "argument": "dataloader_num_workers={value}"})
        self.assertIn("edit", ran.knob("precision"))
        self.assertIn("edit", ran.knob("compile"))
        row = ran.knob("batch_size")
        self.assertEqual((row["today"], row["edit"]["argument"]), (4, "per_device_train_batch_size={value}"), row)
        self.assertEqual(ran.knob("attention_implementation")["today"], "sdpa")

    def test_transformers_trainer_without_accumulation(self):
        ran = self.check("pytorch_trainer", "1")
        self.assertEqual([r["samples"] for r in ran.steps[:11]], [*range(4, 44, 4), 42])
        self.assertEqual(ran.steps[-1]["samples"], 84)

    def test_lightning(self):
        ran = self.check("pytorch_lightning")
        self.assertEqual([r["samples"] for r in ran.steps], list(range(8, 248, 8)))
        self.assertEqual(len(ran.phases_ended("evaluation")), 12)
        self.assertEqual(ran.knob("precision")["edit"]["call"], "Trainer")
        self.assertEqual(ran.knob("num_workers")["where"], ["pytorch_lightning.py:46 DataLoader"])


if __name__ == "__main__":
    unittest.main()
