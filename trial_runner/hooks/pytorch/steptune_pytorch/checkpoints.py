# SPDX-License-Identifier: Apache-2.0
"""torch.save, and the files of safetensors: a phase of its own."""

import io
import os
import sys

import torch

from steptune_pytorch.part_clock import APART, DATA


def wrap(hook):
    written = set()  # files that are as much other ranks' as this one's

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
                written.update(_path_of(f))
                return _once(strategy, f, lambda: original(obj, f, *arguments, **named))
            finally:
                _end(hook, before)

        return save

    def wrap_move(original):
        def move(src, dst, *arguments, **named):
            strategy = hook.knobs.strategy
            ours = written.intersection(_path_of(src))
            if not ours or not strategy.is_one_training():
                return original(src, dst, *arguments, **named)
            written.difference_update(ours)
            return strategy.gathering.by_first(
                "os.replace", "save on all", lambda: original(src, dst, *arguments, **named)
            )

        return move

    hook.patches.replace(torch, "save", wrap_save)
    if hook.knobs.strategy.is_on():
        # A checkpoint that is written beside its place and then put there.
        for name in ("replace", "rename"):
            hook.patches.replace(os, name, wrap_move)


def wrap_safetensors(hook):
    """Where the program has imported it. What saves takes this one from the module as it goes."""
    module = sys.modules.get("safetensors.torch")
    if not hasattr(module, "serialize_file"):
        return

    def wrap_write(original):
        def serialize_file(*arguments, **named):
            if not hook.watches() or hook.clock.current in (APART, DATA):
                return original(*arguments, **named)
            before = _begin(hook)
            try:
                return original(*arguments, **named)
            finally:
                _end(hook, before)

        return serialize_file

    hook.patches.replace(module, "serialize_file", wrap_write)


def _once(strategy, file, write):
    """Rank 0 writes what all ranks, or it alone, would write. Opening a file empties it: into one that
    the program has opened is written when all ranks have."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return strategy.gathering.by_first("torch.save", "save on all or on rank 0", write)
    advice = "save on all, or give torch.save the path of the file"
    return strategy.gathering.by_first("torch.save of an open file", advice, write, when_all_are_here=True)


def _path_of(file):
    """Of a path or an open file, as a set; of any other an empty one."""
    paths = (str, bytes, os.PathLike)
    file = file if isinstance(file, paths) else getattr(file, "name", None)
    return {os.path.abspath(os.fspath(file))} if isinstance(file, paths) else set()


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
