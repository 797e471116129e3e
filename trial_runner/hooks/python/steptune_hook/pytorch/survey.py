# SPDX-License-Identifier: Apache-2.0
"""Reports the facts about the program, and each knob."""

import os
import platform

import torch

from steptune_hook import ranks, report


_WHY_SEPARATE = (
    "several processes train without ranks, each by itself: steps, samples, loss and speed-up are those of the first "
    "process, while the other processes run beside it"
)


def tell(hook):
    if hook.printer.is_second():
        hook.events.open()
        with hook.printer.aloud():
            hook.events.tell("separate", why=_WHY_SEPARATE)
    events = hook.events
    rank, world_size = ranks.rank_and_world_size()[0], ranks.together()
    fields = {"family": hook.family, "torch": str(torch.__version__), "mode": hook.settings.mode, "rank": rank}
    fields.update(world_size=world_size, device=hook.modules.device(), pid=os.getpid())
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        fields["gpu"] = torch.cuda.get_device_name()
    fields.update(_versions())
    events.tell("patched", **fields)
    events.tell("program", **_program(hook))
    for facts in hook.loaders.known.values():
        events.tell("loader", facts.id, **facts.fields())
    hook.report_knobs(rank)


def _versions():
    versions = {"python": platform.python_version()}
    if getattr(torch.version, "cuda", None):
        versions["cuda"] = str(torch.version.cuda)
    if torch.backends.cudnn.is_available():
        versions["cudnn"] = str(torch.backends.cudnn.version())
    return versions


def _program(hook):
    progress = hook.progress
    return {
        "counts": "optimizer" if progress.optimizers_made else "backward",
        "samples_by": progress.sample_count.by,
        "optimizers": sorted({name for name, _ in hook.optimizers.made}),
        "backwards_per_step": progress.backwards_per_step,
        "closure": hook.optimizers.closure,
        "reporter": "program" if report.program_reports() else "hook",
        "roots": sorted({type(module).__name__ for module in hook.modules.roots}),
    }
