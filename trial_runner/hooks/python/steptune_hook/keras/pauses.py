# SPDX-License-Identifier: Apache-2.0
"""Evaluations and checkpoints, whose time belongs to no step."""

import functools
from time import perf_counter

from steptune_hook.keras.fits import owner_of


def _wrap(hook, phase, original):
    def method(*arguments, **named):
        if not hook.active or hook.pausing:
            return original(*arguments, **named)
        hook.pausing = True
        hook.apart += 1
        if phase == "evaluation":
            hook.guarded(hook.fits.evaluation_begins)
        began_s = perf_counter()
        try:
            return original(*arguments, **named)
        finally:
            hook.pausing = False
            hook.apart -= 1
            hook.guarded(hook.phase_ended, phase, began_s)

    return method


def wrap_models(hook, keras):
    for name, phase in (
        ("evaluate", "evaluation"),
        ("predict", "evaluation"),
        ("save", "checkpoint"),
        ("save_weights", "checkpoint"),
        ("export", "checkpoint"),
    ):
        hook.patches.replace(owner_of(keras.Model, name), name, functools.partial(_wrap, hook, phase))


def wrap_checkpoints(hook, tensorflow):
    for name in ("save", "write"):
        hook.patches.replace(tensorflow.train.Checkpoint, name, functools.partial(_wrap, hook, "checkpoint"))
    hook.patches.replace(tensorflow.saved_model, "save", functools.partial(_wrap, hook, "checkpoint"))
