# SPDX-License-Identifier: Apache-2.0
"""Reports of Lightning's Trainer, from the package `lightning` or `pytorch_lightning`."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Mapping, Optional

from .._reporter import active, begin_phase, end_phase, report

# A Trainer of `lightning` refuses callbacks of `pytorch_lightning`, and vice versa.
_imported = [name for name in ("lightning.pytorch", "pytorch_lightning") if name in sys.modules]
_lightning = importlib.import_module((_imported or ["lightning.pytorch"])[0])
_data = importlib.import_module(_lightning.__name__ + ".utilities.data")


class Lightning(_lightning.Callback):  # type: ignore[name-defined, misc, unused-ignore]
    """Reports optimizer steps with their samples on all devices, the loss, and evaluations.

    samples_per_batch: samples of a batch on one device; by default the size of its first tensor's first dimension.
    """

    def __init__(self, samples_per_batch: Optional[int] = None) -> None:
        self._samples_per_batch = samples_per_batch
        self._samples = 0  # samples since the last optimizer step, on all devices together
        self._step = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._step = trainer.global_step

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if not active():
            return
        self._samples += (self._samples_per_batch or _size_of(batch)) * trainer.world_size
        if trainer.global_step == self._step:
            return  # this batch ended without an optimizer step: gradients are accumulated
        self._step = trainer.global_step
        samples, self._samples = self._samples, 0
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if loss is None:
            report(samples=samples)
        else:
            # Lightning has divided the loss by the number of accumulated batches.
            report(samples=samples, loss=loss * trainer.accumulate_grad_batches)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            begin_phase("evaluation")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            end_phase("evaluation")


def _size_of(batch: Any) -> int:
    try:
        return int(_data.extract_batch_size(batch))
    except Exception as error:
        raise ValueError(
            "steptune.callbacks.Lightning cannot tell how many samples a batch has: pass samples_per_batch"
        ) from error
