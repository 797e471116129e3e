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
            strategy = hook.knobs.strategy
            together = strategy.is_one_training() and not isinstance(f, io.BytesIO)
            before = _begin(hook)
            try:
                if not together:
                    return original(obj, f, *arguments, **named)
                return _save_once(strategy, lambda: original(obj, f, *arguments, **named))
            finally:
                _end(hook, before)

        return save

    hook.patches.replace(torch, "save", wrap_save)


def _save_once(strategy, save):
    """One rank writes what all of them have. It begins when all have opened the file, which empties
    it, and the others go on when it is there to be read."""
    strategy.meet()
    try:
        return save() if strategy.writes() else None
    finally:
        strategy.meet()


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
