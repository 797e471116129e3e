# SPDX-License-Identifier: Apache-2.0
"""Arguments of a trainer that set knobs permanently. A trainer makes the loader and calls the model itself. So the
program has no lines for them that a person could change."""

import sys

_BATCH_SIZE = "per_device_train_batch_size"
_OF_TRANSFORMERS = {
    "num_workers": "dataloader_num_workers={value}",
    "prefetch_factor": "dataloader_prefetch_factor={value}",
    "persistent_workers": "dataloader_persistent_workers={value}",
    "pin_memory": "dataloader_pin_memory={value}",
    "optimizer_implementation": {"fused": 'optim="adamw_torch_fused"'},
    "ddp_bucket_cap_mb": "ddp_bucket_cap_mb={value}",
    "ddp_static_graph": "ddp_static_graph={value}",
    "precision": {"fp32": "bf16=False, fp16=False", "bf16": "bf16=True", "fp16": "fp16=True"},
    "tf32": "tf32={value}",
    "compile": {
        "off": "torch_compile=False",
        "default": "torch_compile=True",
        "*": "torch_compile=True, torch_compile_mode={value}",
    },
    "batch_size": _BATCH_SIZE + "={value}",
    "activation_checkpointing": "gradient_checkpointing={value}",
}
_OF_LIGHTNING = {
    "cudnn_benchmark": "benchmark={value}",
    "precision": {"fp32": 'precision="32-true"', "bf16": 'precision="bf16-mixed"', "fp16": 'precision="16-mixed"'},
}
_LIGHTNING = ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")
_OF_ACCELERATE = {
    "precision": {"fp32": 'mixed_precision="no"', "bf16": 'mixed_precision="bf16"', "fp16": 'mixed_precision="fp16"'},
    "compile": {"off": 'dynamo_backend="no"', "default": 'dynamo_backend="inductor"'},
}
# Arguments of the objects that configure how Lightning and accelerate wrap a model.
_OF_DDP = {
    "ddp_bucket_cap_mb": "bucket_cap_mb={value}",
    "ddp_gradient_as_bucket_view": "gradient_as_bucket_view={value}",
    "ddp_static_graph": "static_graph={value}",
}


class TrainerArguments:
    """`edit(knob, today)` returns `call` and `argument` as in the table of knobs, or None."""

    def __init__(self):
        self._calls = {}  # by class that takes them (`TrainingArguments`): arguments by knob
        self._taker = None  # transformers' TrainingArguments

    def look(self):
        """Searches the callers for a trainer. Called when the model is first trained."""
        frame = sys._getframe(1)
        while frame is not None and not self._calls:
            module = frame.f_globals.get("__name__")
            if module == "transformers.trainer":
                self._found_transformers(getattr(frame.f_locals.get("self"), "args", None))
            elif module in _LIGHTNING and "self" in frame.f_locals:
                self._calls = {type(frame.f_locals["self"]).__name__: _OF_LIGHTNING, "DDPStrategy": _OF_DDP}
            frame = frame.f_back
        # An Accelerator does not call the program, but all Accelerators share a state.
        accelerator = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
        if not self._calls and getattr(accelerator, "_shared_state", None):
            self._calls = {"Accelerator": _OF_ACCELERATE, "DistributedDataParallelKwargs": _OF_DDP}

    def _found_transformers(self, taker):
        if taker is not None:
            self._taker = taker
            arguments = {knob: argument for knob, argument in _OF_TRANSFORMERS.items() if _takes(taker, argument)}
            self._calls = {type(taker).__name__: arguments}

    def edit(self, knob, today):
        if knob == "batch_size" and getattr(self._taker, _BATCH_SIZE, None) != today:
            return None  # the trainer makes batches of another size from this number
        for call, arguments in self._calls.items():
            if knob in arguments:
                return {"call": call, "argument": arguments[knob]}
        return None

    def also(self, arguments):
        """Returns these arguments of the loader as transformers takes them. Leaves out those that it does not take."""
        return ["dataloader_" + a for a in arguments if hasattr(self._taker, "dataloader_" + a.partition("=")[0])]


def _takes(taker, argument):
    texts = argument.values() if isinstance(argument, dict) else [argument]
    return all(hasattr(taker, part.partition("=")[0]) for text in texts for part in text.split(", "))
