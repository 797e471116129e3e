# SPDX-License-Identifier: Apache-2.0
"""Base of the hooks of families that report whole steps. A step is a call of one function. Its time is not divided into
parts."""

import atexit
import sys
import threading
from time import perf_counter

from steptune_hook import hook
from steptune_hook.events import append_imported
from steptune_hook.host_watch import HostWatch
from steptune_hook.phases import Phases
from steptune_hook.report import Report


class LoopProgress:
    """Counters of the training. Threads of the program may end steps at the same time."""

    def __init__(self, settings, report):
        self.report = report
        self.phases = Phases(report)
        self.steps = 0
        self.samples = 0
        self.loss = None  # a number, or a function that returns it; a new object for each new loss
        self._reported_loss = None
        self.last_step_s = perf_counter()
        self._samples_per_step = settings.samples_per_step
        self._host_watch = HostWatch() if settings.mode == "survey" else None

    def step(self, samples, loss, steps):
        is_first = self.steps == 0
        self.steps += steps
        self.samples += samples if self._samples_per_step is None else steps * self._samples_per_step
        self.loss = loss
        self.last_step_s = perf_counter()
        self.report.step(self.last_step_s, self.document)
        if is_first and self._host_watch is not None:
            self._host_watch.first_step_ended()

    def correct_samples(self, more):
        """Adds samples that were not counted. A negative number removes samples."""
        if self._samples_per_step is None:
            self.samples += more

    def known_loss(self):
        """Returns the loss of the last step as a number; None if it is not known."""
        loss = self.loss() if callable(self.loss) else self.loss
        return None if loss is None else float(loss)

    def document(self):
        document = {"step": self.steps}
        if self.samples:
            document["samples"] = self.samples
        loss = self.known_loss()
        # A guard counts each loss, so report each one only once.
        if loss is not None and loss is not self._reported_loss:
            document["loss"] = self._reported_loss = loss
        if self._host_watch is not None:
            document.update(self._host_watch.metrics())
        return document


class LoopHook(hook.Hook):
    """A family sets `knobs` and overrides `libraries()`, `device()` and `facts()`, which returns fields of the event
    `program`."""

    titles = {}  # names of the frameworks for people, by module name

    yields_to = ()  # if the program has imported one of these modules, steps of this family do not count

    def __init__(self, requested):
        super().__init__(requested)
        self._lock = threading.RLock()
        self._has_begun = False
        self.progress = LoopProgress(requested, Report(requested, self.printer))
        atexit.register(self.end)

    def libraries(self):
        """Returns the modules of the family's frameworks. Those that the program has imported are reported."""
        return ()

    def device(self):
        return "cpu"

    def versions(self):
        versions = {name: str(sys.modules[name].__version__) for name in self.libraries() if name in sys.modules}
        frameworks = ", ".join("%s %s" % (self.titles.get(name, name), versions[name]) for name in versions)
        return dict(versions, frameworks=frameworks)

    def program(self):
        return dict(self.facts(), samples_by="rows" if self.settings.samples_per_step is None else "given")

    def may_train(self):
        """True if steps of this family count: the hook works, and no module of `yields_to` is imported."""
        return self.active and not any(name in sys.modules for name in self.yields_to)

    def training_begins(self):
        """Called before each training. Reports `imported` only now, since many programs import frameworks for other
        uses."""
        if not self._has_begun:
            self._has_begun = True
            append_imported(self.settings, self.family)

    def is_line_due(self):
        """True if the step that ends now is printed, or if its loss is one of the first. Only then should the hook wait
        for the step's result. Otherwise the program may run ahead."""
        is_first = self.settings.prints_events and self.progress.steps < hook.FIRST_LOSSES
        return is_first or perf_counter() >= self.progress.report.due_s

    def step_ended(self, samples, loss=None, steps=1):
        """Called after each step, or after several at once. `loss`: a number, a function that returns it, or None."""
        with self._lock:
            progress = self.progress
            progress.step(samples, loss, steps)
            self.knobs.collector.step_ended(progress.steps)
            self.tell_steps(progress.steps, progress.known_loss, steps)

    def phase_ended(self, name, began_s):
        """Reports a phase that has just ended. Its time belongs to no step."""
        with self._lock:
            if self.progress.steps:
                self.progress.phases.ended(name, began_s, perf_counter())

    def end(self):
        """Called at the program's end: prints what was not printed yet."""
        if self.active:
            self.guarded(self._end)

    def _end(self):
        if self._has_begun:
            self.survey()
        self.progress.report.flush()


_installed = {}  # hooks by family, once a module of the family was imported


def enter(make, wrap, module):
    """Called after each import of a module of a family. The first import makes the family's hook by `make(settings)`.
    Each import lets the hook enter the module by `wrap(hook, module)`."""
    if make.family not in _installed:
        _installed[make.family] = hook.install(
            # These families have no knobs that can be switched between two steps.
            lambda requested: None if requested.mode == "live" else make(requested),
            lambda made: made.knobs.wrap(),
        )
    made = _installed[make.family]
    if made is not None and made.active:
        made.guarded(wrap, made, sys.modules[module])
