# SPDX-License-Identifier: Apache-2.0
"""torch.save: a phase of its own."""

import torch

from steptune_pytorch.part_clock import APART, DATA


def wrap(hook):
    def wrap_save(original):
        def save(*arguments, **named):
            if not hook.watches() or hook.clock.current in (APART, DATA):
                return original(*arguments, **named)
            before = _begin(hook)
            try:
                return original(*arguments, **named)
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
