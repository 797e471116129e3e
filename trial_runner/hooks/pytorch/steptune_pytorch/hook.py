# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of the hook once torch is imported, and removes all of them on a fault."""

import atexit
import contextlib
import multiprocessing.util
import os
import sys
import threading
import types

from steptune_pytorch import checkpoints, imports, settings, survey
from steptune_pytorch.events import Events, append_imported
from steptune_pytorch.part_clock import FORWARD
from steptune_pytorch.patches import Patches, PickledByValue
from steptune_pytorch.phases import Phases
from steptune_pytorch.ranks import Printer
from steptune_pytorch.report import Report

_STEPS_TO_KNOW = 3  # steps after which a program has shown its outermost modules
_STEPS_TO_KNOW_CALLS = 10  # steps after which it has shown how it calls its optimizers
_SURVEYS_AT = (1, _STEPS_TO_KNOW, _STEPS_TO_KNOW_CALLS, 100, 1000)  # a repeated survey reports only changes
_FIRST_LOSSES = 8
_FULL_STEPS = (*range(1, _FIRST_LOSSES + 1), *_SURVEYS_AT)


class Hook(PickledByValue):
    """State that the wrapped calls share. They watch one thread, which trains: the thread that imported torch, or
    another in which training begins."""

    _attributes_of_stand_in = {"clock": types.SimpleNamespace(current=FORWARD)}

    def __init__(self, requested):
        from steptune_pytorch.knobs import Knobs
        from steptune_pytorch.live import Live

        self.active = True
        self.settings = requested
        self.printer = Printer()
        self.patches = Patches()
        self.live = Live(self, requested.channel, requested.silence_s) if requested.mode == "live" else None
        tell_tuner = self.live.tell_event if self.live else None
        self.events = Events(requested, self.printer, tell_tuner)
        self.progress = None
        self.modules = None
        self.loaders = None
        self.optimizers = None
        self.knobs = None
        self._survey_due = False
        self.replay = None
        if requested.replay is not None:
            from steptune_pytorch.replay import Replay

            self.replay = Replay(self, float(requested.replay["after_s"]), float(requested.replay["after_steps"]))
        self._begin()
        self.knobs = Knobs(self)
        os.register_at_fork(after_in_child=self._begin_in_child)
        atexit.register(self.end)
        multiprocessing.util.register_after_fork(self, Hook._end_with_process)
        if multiprocessing.parent_process() is not None:
            self._end_with_process()

    def _end_with_process(self):
        """Registers `end`, since a process that multiprocessing forked does not run atexit functions."""
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
        from steptune_pytorch import gradients
        from steptune_pytorch.noise_looks import NoiseLooks
        from steptune_pytorch.progress import Progress
        from steptune_pytorch.received_gradients import ReceivedGradients

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
            self.settings, report, Phases(report), self._on_step, noise_looks, received, self._samples_of_all
        )
        self.progress.optimizers_made = bool(self.optimizers and self.optimizers.made)
        self.clock = self.progress.clock
        self._first_losses = []

    def _samples_of_all(self, facts, samples):
        return self.knobs.strategy.samples_of_all(facts, samples)

    def is_for_good(self):
        """True if the current settings stay for a long run."""
        return self.settings.mode == "apply" or (self.live is not None and self.live.is_over)

    def watches(self):
        return self.active and threading.get_ident() == self.thread

    def watches_training(self):
        """Like `watches`, for calls with which training begins. Until it has begun, follows the thread that makes them."""
        if self.active and threading.get_ident() != self.thread and not self.progress.has_begun():
            self.thread = threading.get_ident()
            self.progress.goes_to_another_thread()
        return self.watches()

    @contextlib.contextmanager
    def aside(self):
        """Pauses watching: calls within it are the hook's own."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def failed(self, error):
        """Called on a fault of the hook: the program continues unchanged, and the tuner is informed."""
        self.active = False
        self.patches.restore_all()
        self.progress.report.stop()
        why = "%s: %s" % (type(error).__name__, error)
        self.events.tell("disabled", why=why)
        if self.settings.mode == "apply":
            with self.printer.aloud():
                self.events.warn("the settings are not applied: " + why)
        self.events.open()
        if self.live is not None:
            self.live.stop()
        if self.knobs is not None:
            self.knobs.collector.restore()
            self.knobs.strategy.hook_failed(why)

    def end(self):
        """Called at the program's end: prints what was not printed yet."""
        if self.active and self.pid == os.getpid():
            try:
                self.progress.ends()
                self.knobs.loader.end()
                self.knobs.strategy.end()
                # Libraries report objects that stay frozen as leaked (nanobind, which Triton uses).
                self.knobs.collector.restore()
            except Exception as error:
                self.failed(error)

    def survey_after_step(self):
        """Called when new facts about the program are known."""
        self._survey_due = True
        self.progress.full_step = 0

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
        if self._survey_due or progress.steps in _SURVEYS_AT:
            self._survey_due = False
            survey.tell(self)
            self.events.open()
        if progress.steps <= _FIRST_LOSSES and self.settings.prints_events:
            self._first_losses.append(repr(progress.loss()))
            if progress.steps == _FIRST_LOSSES:
                self.events.tell("losses", first=self._first_losses)
        if self.live is not None and not self.live.is_over:
            self.live.step_ended(progress)
        else:
            steps_to = (step for step in _FULL_STEPS if step > progress.steps)
            progress.full_step = min(*steps_to, self.knobs.collector.next_step, float("inf"))


installed = None


def install():
    """Called once, at the end of the first `import torch`. Never raises."""
    global installed
    hook = None
    try:
        hook = installed = Hook(settings.read())
        append_imported(hook.settings)
        from steptune_pytorch import backward, loaders, modules, optimizers

        hook.knobs.wrap()
        hook.loaders = loaders.Loaders(hook)
        hook.modules = modules.Modules(hook)
        hook.optimizers = optimizers.Optimizers(hook)
        backward.wrap(hook)
        checkpoints.wrap(hook)
    except Exception as error:
        if hook is None:
            sys.stderr.write("steptune: the hook is off: %s\n" % error)
        else:
            hook.failed(error)
