# SPDX-License-Identifier: Apache-2.0
"""Arguments of a trainer's own that set knobs permanently. A trainer makes the loader and calls the model itself, so the
program has no such lines that a person could change."""

import sys

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
    "activation_checkpointing": "gradient_checkpointing={value}",
}
_OF_LIGHTNING = {
    "cudnn_benchmark": "benchmark={value}",
    "precision": {"fp32": 'precision="32-true"', "bf16": 'precision="bf16-mixed"', "fp16": 'precision="16-mixed"'},
}
_LIGHTNING = ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")


class TrainerArguments:
    """`edit(knob)` returns `call` and `argument` as in the table of knobs, or None."""

    def __init__(self):
        self._call = None  # class that takes the arguments: `TrainingArguments`
        self._arguments = {}
        self._fields = ()  # names of all its arguments

    def look(self):
        """Looks for a trainer among the callers. Called when the model is first trained."""
        frame = sys._getframe(1)
        while frame is not None and self._call is None:
            module = frame.f_globals.get("__name__")
            if module == "transformers.trainer":
                self._found(getattr(frame.f_locals.get("self"), "args", None), _OF_TRANSFORMERS)
            elif module in _LIGHTNING:
                self._found(frame.f_locals.get("self"), _OF_LIGHTNING)
            frame = frame.f_back

    def _found(self, taker, arguments):
        if taker is not None:
            self._call = type(taker).__name__
            self._fields = dir(taker)
            self._arguments = {k: v for k, v in arguments.items() if arguments is _OF_LIGHTNING or _takes(taker, v)}

    def edit(self, knob):
        argument = self._arguments.get(knob)
        return None if argument is None else {"call": self._call, "argument": argument}

    def also(self, arguments):
        """Returns these arguments of the loader as the trainer takes them. Leaves out those that it does not take."""
        return ["dataloader_" + a for a in arguments if "dataloader_" + a.partition("=")[0] in self._fields]


def _takes(taker, argument):
    """True if this version has the argument."""
    texts = argument.values() if isinstance(argument, dict) else [argument]
    return all(hasattr(taker, part.partition("=")[0]) for text in texts for part in text.split(", "))
