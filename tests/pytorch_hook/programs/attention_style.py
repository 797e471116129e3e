# SPDX-License-Identifier: Apache-2.0
"""Trains a model in the style of transformers, whose configuration says how it computes attention. An argument selects a
variant. Prints the implementation that each step used."""
import sys

import torch
import torch.nn as nn

kind = sys.argv[1] if len(sys.argv) > 1 else "usual"
WIDTH = 8


class Config:
    output_attentions = kind == "reads"

    def __init__(self, implementation, parts=()):
        self._implementation = implementation
        self.parts = parts

    @property
    def _attn_implementation(self):
        return self._implementation

    @_attn_implementation.setter
    def _attn_implementation(self, value):
        self._implementation = value
        for part in self.parts:
            part._attn_implementation = value


class PreTrainedModel(nn.Module):
    _supports_sdpa = kind != "eager only"

    @classmethod
    def _can_set_attn_implementation(cls):
        return kind != "old"

    def set_attn_implementation(self, implementation):
        if kind == "eager only":
            self.config.parts[0]._attn_implementation = implementation
            raise ValueError("Model does not support sdpa\nyet")
        if implementation == "flash_attention_2":
            return  # transformers only warns
        self.config._attn_implementation = implementation


class Text(PreTrainedModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        used.add(self.config._attn_implementation)
        q, k, v = self.projections(x).chunk(3, dim=-1)
        scale = WIDTH**-0.5
        if self.config._attn_implementation == "eager":
            return torch.softmax(q @ k.transpose(1, 2) * scale, dim=-1) @ v
        return torch.softmax((q * scale) @ k.transpose(1, 2), dim=-1) @ v


class Model(PreTrainedModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.text = Text(config.parts[0])
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x=None, output_attentions=False):
        return self.head(self.text(x))


class Adapter(nn.Module):
    """Like a wrapper of peft: gives access to the attributes of the model inside."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)

    def forward(self, **named):
        return self.model(**named)


torch.manual_seed(8)
usual = "flex_attention" if kind == "flex" else "eager"
part = Config("sdpa" if kind == "mixed" else usual)
model = Adapter(Model(Config(usual, [part])))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    used = set()
    loss = model(x=torch.randn(4, 5, WIDTH), output_attentions=kind == "asks").pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
    print("used", *sorted(used))
