# SPDX-License-Identifier: Apache-2.0
"""Reports torch.save and the writing of safetensors files as a separate phase."""

import contextlib
import io
import os
import sys

import torch

from steptune_hook.part_clock import APART, DATA


def wrap(hook):
    written = set()  # files that all ranks would write

    def wrap_save(original):
        def save(obj, f, *arguments, **named):
            if not hook.watches() or hook.clock.current in (APART, DATA):
                return original(obj, f, *arguments, **named)
            strategy = hook.knobs.strategy
            together = strategy.is_one_training() and not isinstance(f, io.BytesIO)
            with _checkpoint(hook):
                if not together:
                    return original(obj, f, *arguments, **named)
                written.update(_path_of(f))
                return _once(strategy, f, lambda: original(obj, f, *arguments, **named))

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
        # Some programs write a checkpoint to a temporary path and then rename it.
        for name in ("replace", "rename"):
            hook.patches.replace(os, name, wrap_move)


def wrap_safetensors(hook):
    """Wraps safetensors' function that writes files, if the program has imported it. The save functions look it up in
    the module at each call."""
    module = sys.modules.get("safetensors.torch")
    if not hasattr(module, "serialize_file"):
        return

    def wrap_write(original):
        def serialize_file(*arguments, **named):
            if not hook.watches() or hook.clock.current in (APART, DATA):
                return original(*arguments, **named)
            with _checkpoint(hook):
                return original(*arguments, **named)

        return serialize_file

    hook.patches.replace(module, "serialize_file", wrap_write)


def _once(strategy, file, write):
    """Lets rank 0 alone write a file that all ranks, or rank 0 alone, would write. Opening a file empties it. So if the
    program has opened the file, rank 0 writes only after all ranks have opened it."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return strategy.gathering.by_first("torch.save", "save on all or on rank 0", write)
    advice = "save on all, or give torch.save the path of the file"
    return strategy.gathering.by_first("torch.save of an open file", advice, write, when_all_are_here=True)


def _path_of(file):
    """Returns a set with the path of `file`, which is a path or an open file. For other objects the set is empty."""
    paths = (str, bytes, os.PathLike)
    file = file if isinstance(file, paths) else getattr(file, "name", None)
    return {os.path.abspath(os.fspath(file))} if isinstance(file, paths) else set()


@contextlib.contextmanager
def _checkpoint(hook):
    before = hook.clock.switch(APART)
    hook.guarded(hook.progress.saves)
    try:
        yield
    finally:
        hook.clock.switch(before)
        hook.guarded(hook.progress.saved)
