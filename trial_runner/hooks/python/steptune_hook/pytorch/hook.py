# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of the hook once torch is imported, and removes all of them on a fault."""

import atexit
import multiprocessing.util
import os
import threading
import types

import torch

from steptune_hook import call_site, hook, imports
from steptune_hook.events import append_imported
from steptune_hook.part_clock import FORWARD
from steptune_hook.patches import PickledByValue
from steptune_hook.phases import Phases
from steptune_hook.pytorch import MODULES, checkpoints
from steptune_hook.report import Report

_STEPS_TO_KNOW = 3  # steps after which a program has shown its outermost modules
_STEPS_TO_KNOW_CALLS = 10  # steps after which the program has shown how it calls its optimizers
_FULL_STEPS = (*range(1, hook.FIRST_LOSSES + 1), *hook.SURVEYS_AT)
_WHY_SEPARATE = (
    "several processes train without ranks, each by itself: steps, samples, loss and speed-up are those of the first "
    "process, while the other processes run beside it"
)


class Hook(hook.Hook, PickledByValue):
    """State that the wrapped calls share. They watch one thread, which trains: the thread that imported torch, or
    another in which training begins."""

    family = "pytorch"
    _attributes_of_stand_in = {"clock": types.SimpleNamespace(current=FORWARD)}

    def __init__(self, requested):
        from steptune_hook.pytorch.knobs import Knobs
        from steptune_hook.pytorch.live import Live

        call_site.FRAMEWORKS.update(MODULES)
        self.live = None
        super().__init__(requested, self._send_to_tuner if requested.mode == "live" else None)
        if requested.mode == "live":
            self.live = Live(self, requested.channel, requested.silence_s)
        self.modules = None
        self.loaders = None
        self.optimizers = None
        self.replay = None
        if requested.replay is not None:
            from steptune_hook.pytorch.replay import Replay

            self.replay = Replay(self, float(requested.replay["after_s"]), float(requested.replay["after_steps"]))
        self._begin()
        self.knobs = Knobs(self)
        os.register_at_fork(after_in_child=self._begin_in_child)
        atexit.register(self.end)
        multiprocessing.util.register_after_fork(self, Hook._end_with_process)
        if multiprocessing.parent_process() is not None:
            self._end_with_process()

    def _end_with_process(self):
        """Registers `end` with multiprocessing, since a process that it forked does not run atexit functions."""
        multiprocessing.util.Finalize(None, self.end, exitpriority=0)

    def _begin_in_child(self):
        if self.live is not None:
            self.live.after_fork()
        if self.knobs is not None:
            self.knobs.loader.forget_error()
            self.knobs.collector.after_fork()
        if self.replay is not None:
            self.replay.forget()
        self._begin()

    def _begin(self):
        """Starts anew, also in a forked child. A child has its own progress, and mostly none (a loader's worker)."""
        from steptune_hook.pytorch import gradients
        from steptune_hook.pytorch.noise_looks import NoiseLooks
        from steptune_hook.pytorch.progress import Progress
        from steptune_hook.pytorch.received_gradients import ReceivedGradients

        self.pid = os.getpid()
        self.thread = threading.get_ident()
        self.printer.forget()
        if self.progress is not None:
            self.progress.forgotten()
        report = Report(self.settings, self.printer)
        noise_looks = NoiseLooks(lambda: gradients.of(self))
        received = ReceivedGradients(
            lambda: self.knobs.optimizer.moved_by_zeros(), lambda *what: self.knobs.optimizer.gradients_lack(*what)
        )
        self.progress = Progress(
            self.settings,
            report,
            Phases(report),
            self._on_step,
            noise_looks,
            received,
            lambda *what: self.knobs.strategy.samples_of_all(*what),
        )
        self.progress.optimizers_made = bool(self.optimizers and self.optimizers.made)
        self.clock = self.progress.clock
        self._first_losses = []

    def _send_to_tuner(self, event):
        if self.live is not None:
            self.live.send_event(event)

    def is_for_good(self):
        return super().is_for_good() or (self.live is not None and self.live.is_over)

    def watches(self):
        return self.active and threading.get_ident() == self.thread

    def watches_training(self):
        """Like `watches`, for calls with which training begins. The thread that makes the first such call is watched.
        """
        if self.active and threading.get_ident() != self.thread and not self.progress.has_begun():
            self.thread = threading.get_ident()
            self.progress.goes_to_another_thread()
        return self.watches()

    def withdrawn(self, why):
        super().withdrawn(why)
        if self.live is not None:
            self.live.stop()
        if self.knobs is not None:
            self.knobs.strategy.hook_failed(why)

    def end(self):
        """Called at the program's end: prints what was not printed yet."""
        if self.active and self.pid == os.getpid():
            self.guarded(self._end)

    def _end(self):
        self.progress.ends()
        self.knobs.loader.end()
        self.knobs.strategy.end()
        # Libraries report objects that stay frozen as leaked (nanobind, which Triton uses).
        self.knobs.collector.restore()

    def survey_after_step(self):
        super().survey_after_step()
        self.progress.full_step = 0

    def device(self):
        return self.modules.device()

    def versions(self):
        versions = {"torch": str(torch.__version__)}
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            versions["gpu"] = torch.cuda.get_device_name()
        if torch.version.cuda:
            versions["cuda"] = str(torch.version.cuda)
        if torch.backends.cudnn.is_available():
            versions["cudnn"] = str(torch.backends.cudnn.version())
        return versions

    def program(self):
        return {
            "counts": "optimizer" if self.progress.optimizers_made else "backward",
            "samples_by": self.progress.sample_count.by,
            "optimizers": sorted({name for name, _ in self.optimizers.made}),
            "backwards_per_step": self.progress.backwards_per_step,
            "closure": self.optimizers.closure,
            "roots": sorted({type(module).__name__ for module in self.modules.roots}),
        }

    def survey(self):
        if self.printer.is_second():
            self.events.open()
            with self.printer.aloud():
                self.events.tell("separate", why=_WHY_SEPARATE)
        super().survey()

    def tell_program(self):
        super().tell_program()
        for facts in self.loaders.known.values():
            self.events.tell("loader", facts.id, **facts.fields())

    def _on_step(self, progress):
        self.knobs.collector.step_ended(progress.steps)
        if progress.steps == _STEPS_TO_KNOW:
            self.modules.pin()
            checkpoints.wrap_safetensors(self)
            if not self.knobs.strategy.is_asked:
                progress.knows_program()
            if self.settings.mode == "report":
                self.events.tell("imports", modules=imports.installed_modules())
        if progress.steps == _STEPS_TO_KNOW_CALLS:
            self.optimizers.pin()
        self.tell_steps(progress.steps, progress.loss)
        if self.live is not None and not self.live.is_over:
            self.live.step_ended(progress)
        else:
            steps_to = (step for step in _FULL_STEPS if step > progress.steps)
            progress.full_step = min(*steps_to, self.knobs.collector.next_step, float("inf"))


installed = None


def install():
    """Called once, at the end of the first `import torch`. Never raises."""
    hook.install(_make, _wrap)


def _make(requested):
    global installed
    installed = Hook(requested)
    return installed


def _wrap(own):
    append_imported(own.settings, own.family)
    from steptune_hook.pytorch import backward, loaders, modules, optimizers

    own.knobs.wrap()
    own.loaders = loaders.Loaders(own)
    own.modules = modules.Modules(own)
    own.optimizers = optimizers.Optimizers(own)
    backward.wrap(own)
    checkpoints.wrap(own)
