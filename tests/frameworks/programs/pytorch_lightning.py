# SPDX-License-Identifier: Apache-2.0
"""Trains with Lightning: four micro-batches a step. It validates after every ten micro-batches, in the middle of some steps."""
import logging
import tempfile
import warnings

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        loss = self.layer(batch[0]).pow(2).mean()
        print("loss", loss.item().hex())
        return loss

    def validation_step(self, batch, _):
        self.log("validation", self.layer(batch[0]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


lightning.seed_everything(5, verbose=False)
data = TensorDataset(torch.randn(120, 8))
with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=2,
        accumulate_grad_batches=4,
        val_check_interval=10,
        num_sanity_val_steps=0,
        default_root_dir=folder,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), DataLoader(data, batch_size=2, shuffle=True), DataLoader(data, batch_size=40))
    print("steps", trainer.global_step)
