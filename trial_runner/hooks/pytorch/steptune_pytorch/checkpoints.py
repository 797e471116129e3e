# SPDX-License-Identifier: Apache-2.0
"""torch.save: a phase of its own."""

import io

import torch

from steptune_pytorch.part_clock import APART, DATA


def wrap(hook):
    def wrap_save(original):
        def save(obj, f, *arguments, **named):
            if not hook.watches() or hook.clock.current in (APART, DATA):
                return original(obj, f, *arguments, **named)
            if hook.knobs.strategy.is_replica() and not isinstance(f, io.BytesIO):
                return None  # the first rank writes the same
            before = _begin(hook)
            try:
                return original(obj, f, *arguments, **named)
            finally:
                _end(hook, before)

        return save

    hook.patches.replace(torch, "save", wrap_save)


def _begin(hook):
    before = hook.clock.switch(APART)
    try:
        hook.progress.saves()
    except Exception as error:
        hook.failed(error)
    return before


def _end(hook, before):
    hook.clock.switch(before)
    try:
        hook.progress.saved()
    except Exception as error:
        hook.failed(error)
