# SPDX-License-Identifier: Apache-2.0
"""Tests the callbacks with the real frameworks. A case is skipped if its framework is not installed.

Each case trains 10 steps of a tiny model in a new interpreter and reads what the callback prints.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "trial_runner" / "reporters"

TRANSFORMERS = """
import torch, transformers, steptune

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, i):
        return {"x": torch.tensor([i / 80.0]), "labels": torch.tensor([i * i / 6400.0])}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x, labels):
        y = self.layer(x)
        return {"loss": torch.nn.functional.mse_loss(y, labels), "logits": y}

names = transformers.TrainingArguments.__dataclass_fields__
interval = "eval_strategy" if "eval_strategy" in names else "evaluation_strategy"
device = {"use_cpu": True} if "use_cpu" in names else {"no_cuda": True}
arguments = transformers.TrainingArguments(
    "out", max_steps=10, per_device_train_batch_size=4, gradient_accumulation_steps=2, logging_steps=5, eval_steps=5,
    save_strategy="steps", save_steps=10, report_to=[], disable_tqdm=True, **{interval: "steps"}, **device)
transformers.Trainer(Model(), arguments, train_dataset=Squares(), eval_dataset=Squares(),
                     callbacks=[steptune.callbacks.Transformers()]).train()
"""

LIGHTNING = """
import torch
try:
    import lightning.pytorch as lightning
except ImportError:
    import pytorch_lightning as lightning
import steptune

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, index):
        return self.layer(batch[0]).pow(2).mean() * 0 + 3.0

    def validation_step(self, batch, index):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(80, 1)), batch_size=4)
lightning.Trainer(accelerator="cpu", devices=1, max_epochs=1, accumulate_grad_batches=2, logger=False,
                  enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                  callbacks=[steptune.callbacks.Lightning()]).fit(Model(), data, data)
"""

KERAS = """
import numpy, keras, steptune

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", steps_per_execution=STEPS)
x = numpy.random.rand(40, 1)
model.fit(x, x, batch_size=8, epochs=2, verbose=0, validation_data=(x, x), callbacks=[steptune.callbacks.Keras(8)])
"""


class Callbacks(unittest.TestCase):
    def train(self, module, code, **environment):
        """Returns the lines with steps, and the names of the phases that ended."""
        if importlib.util.find_spec(module) is None:
            self.skipTest("needs " + module)
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, encoding="utf-8", stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE,
                                 env=dict(os.environ, PYTHONPATH=str(PACKAGE), STEPTUNE_TRIAL="1.1", **environment))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        found = [json.loads(line.partition("[steptune] ")[2]) for line in ran.stdout.splitlines() if "[steptune]" in line]
        return [line for line in found if "step" in line], [line["phase"] for line in found if "seconds" in line]


class Transformers(Callbacks):
    def test_steps_evaluations_and_checkpoints_are_reported(self):
        steps, phases = self.train("transformers", TRANSFORMERS, CUDA_VISIBLE_DEVICES="")
        self.assertEqual((steps[0]["step"], steps[0]["samples"]), (1, 8.0))
        self.assertEqual((steps[-1]["step"], steps[-1]["samples"]), (10, 80.0))
        self.assertIn("loss", steps[-1])
        self.assertEqual(phases, ["evaluation", "evaluation", "checkpoint"])


class Lightning(Callbacks):
    def test_steps_and_evaluations_are_reported(self):
        module = "lightning" if importlib.util.find_spec("lightning") else "pytorch_lightning"
        steps, phases = self.train(module, LIGHTNING, CUDA_VISIBLE_DEVICES="")
        self.assertEqual((steps[0]["step"], steps[0]["samples"]), (1, 8.0))
        self.assertEqual((steps[-1]["step"], steps[-1]["samples"]), (10, 80.0))
        self.assertAlmostEqual(steps[-1]["loss"], 3.0, places=5)
        self.assertEqual(phases, ["evaluation"])


class Keras(Callbacks):
    def trained(self, steps_per_execution, backends):
        backend = next((name for name in backends if importlib.util.find_spec(name)), None)
        if backend is None:
            self.skipTest("needs one of " + ", ".join(backends))
        return self.train("keras", KERAS.replace("STEPS", str(steps_per_execution)), KERAS_BACKEND=backend,
                          CUDA_VISIBLE_DEVICES="")

    def test_steps_and_evaluations_are_reported(self):
        steps, phases = self.trained(1, ["jax", "tensorflow", "torch"])
        self.assertEqual((steps[0]["step"], steps[0]["samples"]), (1, 8.0))
        self.assertEqual((steps[-1]["step"], steps[-1]["samples"]), (10, 80.0))
        self.assertIn("loss", steps[-1])
        self.assertEqual(phases, ["evaluation", "evaluation"])

    def test_steps_that_keras_runs_together_are_counted(self):
        steps, _ = self.trained(2, ["jax", "tensorflow"])
        self.assertEqual((steps[-1]["step"], steps[-1]["samples"]), (10, 80.0))


if __name__ == "__main__":
    unittest.main()
