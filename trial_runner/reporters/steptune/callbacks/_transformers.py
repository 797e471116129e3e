# SPDX-License-Identifier: Apache-2.0
"""Reports of Hugging Face's Trainer."""

from __future__ import annotations

from typing import Any, Dict, Optional

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from .._reporter import begin_phase, end_phase, metrics, report


class Transformers(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Reports optimizer steps with their samples on all devices, logged losses, evaluations and checkpoints."""

    def __init__(self) -> None:
        self._phase: Optional[str] = None

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._end_phase()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        # With auto_find_batch_size, Trainer tries sizes and stores the one that fits in the state.
        batch = getattr(state, "train_batch_size", None) or args.train_batch_size
        report(samples=batch * args.gradient_accumulation_steps * args.world_size)
        self._begin_next_phase(control)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._begin_next_phase(control)

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl,
        logs: Optional[Dict[str, Any]] = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        loss = (logs or {}).get("loss")
        if loss is not None:
            metrics(loss=loss)

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._end_phase()
        if control.should_save:
            self._begin_phase("checkpoint")

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self._end_phase()

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._end_phase()

    def _begin_next_phase(self, control: TrainerControl) -> None:
        # Trainer's own callback runs before this one. It has decided if an evaluation or a checkpoint follows.
        if control.should_evaluate:
            self._begin_phase("evaluation")
        elif control.should_save:
            self._begin_phase("checkpoint")

    def _begin_phase(self, name: str) -> None:
        self._end_phase()
        self._phase = name
        begin_phase(name)

    def _end_phase(self) -> None:
        if self._phase is not None:
            end_phase(self._phase)
            self._phase = None
