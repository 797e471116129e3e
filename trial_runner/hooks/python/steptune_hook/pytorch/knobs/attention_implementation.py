# SPDX-License-Identifier: Apache-2.0
"""How models of Hugging Face's transformers compute attention: their `attn_implementation`."""

import importlib.util
import weakref

from steptune_hook.events import first_line
from steptune_hook.knobs.knob_status import KnobStatus

_NAME = "attention_implementation"
_SETTER = "set_attn_implementation"
_FUSED = "sdpa"
_FLASH = "flash_attention_2"
_VALUES = ("eager", _FUSED, _FLASH)  # of the table


class AttentionImplementationKnob:
    def __init__(self, hook, requested):
        self._hook = hook
        self._requested = requested.get(_NAME)
        self._seen = weakref.WeakSet()  # outermost modules
        self._models = weakref.WeakSet()  # models of transformers in them
        self._today = None  # of the first model
        self._refused = None

    def prepare(self, module, named):
        """Called before a training forward of an outermost module, with its named arguments."""
        if module in self._seen:
            return
        self._seen.add(module)
        for model in _models_in(module):
            today = model.config._attn_implementation
            if self._today is None:
                self._today = today
            self._models.add(model)
            self._refused = self._refused or _why_not(model, named, self._today)
        if self._refused is None and self._requested not in (None, self._today):
            for model in list(self._models):
                self._refused = self._refused or self._put(model)

    def _put(self, model):
        """Sets the requested implementation. Returns why it was not possible; None if it was."""
        configurations = _configurations(model)
        before = [configuration._attn_implementation for configuration in configurations]
        why = None
        try:
            model.set_attn_implementation(self._requested)
        except Exception as error:  # the model or this machine does not have it
            why = first_line(error)
        if why is None and any(c._attn_implementation != self._requested for c in configurations):
            why = "the model does not take it"
        if why is not None:
            # A model passes its value on to its parts. After an error, they have the new value, so restore it.
            for configuration, value in zip(configurations, before):
                configuration._attn_implementation = value
        return why

    def statuses(self):
        models = list(self._models)
        if not models:
            yield KnobStatus(_NAME, why="no model of transformers that can change its attention")
            return
        now = models[0].config._attn_implementation
        yield KnobStatus(_NAME, self._today, now, self._refused, choices=self._choices(models))

    def _choices(self, models):
        """Returns today's implementation and those that are usually faster."""
        faster = [_FUSED] if all(getattr(model, "_supports_sdpa", False) for model in models) else []
        takes_flash = all(
            getattr(model, "_supports_flash_attn", False) or getattr(model, "_supports_flash_attn_2", False)
            for model in models
        )
        # Its kernels are for GPUs and 16 bits.
        is_possible = self._hook.modules.device() == "cuda" and self._hook.knobs.forward.has_16_bits()
        if takes_flash and is_possible and importlib.util.find_spec("flash_attn") is not None:
            faster.append(_FLASH)
        return [self._today] + [name for name in faster if name != self._today]


def _models_in(root):
    """Returns the outermost models of transformers that can change their implementation."""
    models = []
    inside = set()
    for module in root.modules():
        if module not in inside and hasattr(type(module), _SETTER) and hasattr(module, "config"):
            models.append(module)
            inside.update(module.modules())
    return models


def _configurations(model):
    """Returns the configurations of a model and of the models in it, each once, outer ones first."""
    found = {id(part.config): part.config for part in model.modules() if hasattr(type(part), _SETTER)}
    return list(found.values())


def _why_not(model, named, today):
    if today not in _VALUES:
        return "the model computes attention by %s" % today
    if named.get("output_attentions") or getattr(model.config, "output_attentions", False):
        return "the program reads the weights of attention"
    if any(configuration._attn_implementation != today for configuration in _configurations(model)):
        return "parts of the model compute attention in several ways"
    can_set = getattr(model, "_can_set_attn_implementation", None)
    return None if can_set is None or can_set() else "the model chooses it when it is made"
