# SPDX-License-Identifier: Apache-2.0
"""Reports of Keras' fit()."""

from __future__ import annotations

from typing import Any, Dict, Optional

import keras

from .._reporter import begin_phase, end_phase, report


class Keras(keras.callbacks.Callback):  # type: ignore[misc, unused-ignore]
    """Reports steps, the loss, and evaluations.

    batch_size: samples of a step, on all devices together. A callback cannot get this number from Keras.
    """

    def __init__(self, batch_size: int) -> None:
        super().__init__()
        self._batch_size = batch_size
        self._batch = -1

    def on_epoch_begin(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        self._batch = -1

    def on_train_batch_end(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        # With steps_per_execution, Keras calls this once for several steps. The last `batch` may lie beyond the epoch.
        last = batch if not self.params.get("steps") else min(batch, self.params["steps"] - 1)
        steps, self._batch = last - self._batch, last
        losses = {name: value for name, value in (logs or {}).items() if name == "loss"}
        report(samples=steps * self._batch_size, steps=steps, **losses)

    def on_test_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        begin_phase("evaluation")

    def on_test_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        end_phase("evaluation")
