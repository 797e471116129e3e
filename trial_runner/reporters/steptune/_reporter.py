# SPDX-License-Identifier: Apache-2.0
"""Reports a training program's progress to Steptune.

Outside a tuner (STEPTUNE_TRIAL not set) nothing is printed. In a trial, the reporter prints lines
``[steptune] {"v":1,...}`` to stdout: for the first step, for the last step, and at most four lines
a second in between. A line has the number of all steps so far, and the metrics that were reported
since the line before. In distributed training only rank 0 prints, unless the tuner reads the output
of every rank (STEPTUNE_ALL_RANKS).

Values may be numbers or anything that float() accepts, including tensors. A tensor is copied on
its device when it is reported, so the program may change it in place afterwards. The reporter reads
the copy only when it prints a line. Steps without a line therefore do not wait for the GPU.

At most 64 metrics and 64 parts are reported, with names of 1 to 100 bytes. Others are left out;
at most ten of them are named in warnings on stderr.

Time that a program spends outside training steps is a phase. Mark the start and the end of a phase:

    with steptune.phase("evaluation"):
        accuracy = evaluate(model)

In distributed training, each rank reports the steps and samples of all ranks together.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, Dict, Iterator, List, Optional, Set, SupportsFloat, Tuple

_RESERVED = frozenset(
    ("v", "step", "samples", "clock", "parts", "not_finite", "phase", "global_rank")
)
_INTERVAL_S = 0.25
_MAX_NAME_BYTES = 100
_MAX_NAMES = 64
_MAX_WARNINGS = 10


def _in_tuner() -> bool:
    return bool(os.environ.get("STEPTUNE_TRIAL"))


def _rank() -> Optional[int]:
    """Returns None in a program with one process, or without rank variables."""
    for variable in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if os.environ.get(variable, "").isdigit():
            return int(os.environ[variable])
    return None


def _all_ranks_report() -> bool:
    return os.environ.get("STEPTUNE_ALL_RANKS") == "1"


def _as_it_is_now(value: Any) -> Any:
    """Returns a value that stays the same if the program changes a tensor or an array in place. A
    copy on a GPU is queued like any kernel, so nothing waits for it."""
    if isinstance(value, (int, float)):
        return value
    # Detach tensors, which would keep their whole computation graph in memory.
    detach = getattr(value, "detach", None)
    if callable(detach):
        value = detach()
    copy = getattr(value, "clone", None) or getattr(value, "copy", None)
    return copy() if callable(copy) else value


class Reporter:
    """Counts steps and samples, and prints them at intervals. Thread safe."""

    def __init__(self) -> None:
        rank = _rank()
        self.active = _in_tuner() and (not rank or _all_ranks_report())
        self._reported_rank = rank if _all_ranks_report() else None
        self._process: Optional[int] = None  # the first process that reports; it may be a forked one
        self._begin = time.monotonic()
        self._lock = threading.Lock()
        self._steps = 0
        self._samples = 0.0
        self._last_step_s = 0.0
        self._printed_s: Optional[float] = None
        self._pending = False
        self._warned: Set[str] = set()
        self._metrics: Dict[str, Any] = {}  # reported since the last line
        self._metric_names: Set[str] = set()  # of all metrics so far
        self._parts: Dict[str, float] = {}
        self._phases: List[Tuple[str, float, bool]] = []  # open phases: name, start, True if it is reported
        if self.active:
            atexit.register(self.flush)

    def report(self, samples: SupportsFloat = 0, steps: int = 1, **metrics: Any) -> None:
        """Reports one completed optimizer step, or `steps` steps. `samples`: samples of these steps together."""
        if not self.active:
            return
        with self._lock:
            self._begin_process()
            self._steps += int(steps)
            number = self._number("samples", samples)
            if number is not None and math.isfinite(number) and number > 0:
                self._samples += number
            # The line contains the time when the step ended, even if it is printed later.
            self._last_step_s = time.monotonic() - self._begin
            self._keep(metrics)
            self._print_if_due()

    def metrics(self, **metrics: Any) -> None:
        """Reports values that belong to no step, such as an accuracy at the end of an epoch."""
        if not self.active:
            return
        with self._lock:
            self._begin_process()
            self._keep(metrics)
            self._print_if_due()

    def part(self, name: str, seconds: SupportsFloat) -> None:
        """Adds `seconds` to a part of the steps, such as "data", "compute" or "optimizer"."""
        if not self.active:
            return
        number = self._number(name, seconds)
        if number is not None and math.isfinite(number) and number >= 0:
            with self._lock:
                if self._has_room(self._parts, str(name)):
                    self._parts[str(name)] = self._parts.get(str(name), 0.0) + number

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Adds the time of a block to a part: `with steptune.timed("data"): batch = next(batches)`"""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.part(name, time.monotonic() - begin)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Marks a block as a phase: `with steptune.phase("evaluation"): ...`. Call it in the training
        thread. A phase inside another phase is not reported separately."""
        self.begin_phase(name)
        try:
            yield
        finally:
            self.end_phase(name)

    def begin_phase(self, name: str) -> None:
        """Begins a phase that `end_phase` ends. Use it where a `with` block does not fit."""
        if not self.active:
            return
        name = str(name)
        with self._lock:
            self._begin_process()
            if not 1 <= len(name.encode("utf-8", "replace")) <= _MAX_NAME_BYTES:
                self._warn(name[:40], "is not a valid name for a phase: 1 to %d bytes" % _MAX_NAME_BYTES)
                return
            now = time.monotonic() - self._begin
            is_outermost = not self._phases
            self._phases.append((name, now, is_outermost))
            if is_outermost:
                self._print_phase({"phase": name, "clock": round(now, 9)})

    def end_phase(self, name: str) -> None:
        """Ends the phase of this name that began last."""
        if not self.active:
            return
        name = str(name)
        with self._lock:
            for index in reversed(range(len(self._phases))):
                if self._phases[index][0] == name:
                    break
            else:
                self._warn(name[:40], "is a phase that ended but did not begin")
                return
            _, begin, is_outermost = self._phases.pop(index)
            now = time.monotonic() - self._begin
            if is_outermost:
                seconds = round(now - begin, 9)
                self._print_phase({"phase": name, "seconds": seconds, "clock": round(now, 9)})

    def flush(self) -> None:
        """Prints the reports that are not printed yet. Called automatically at exit."""
        if not self.active:
            return
        with self._lock:
            if self._pending:
                self._print()

    def has_reported(self) -> bool:
        """Returns True if this program has reported anything. Always False outside a tuner."""
        return self._process is not None

    def _begin_process(self) -> None:
        if self._process is None:
            self._process = os.getpid()
            forks = sys.modules.get("multiprocessing.util")
            if forks is not None and sys.modules["multiprocessing.process"].current_process().name != "MainProcess":
                # A process forked by multiprocessing ends without calling atexit handlers.
                forks.Finalize(None, self.flush, exitpriority=0)

    def _keep(self, metrics: Dict[str, Any]) -> None:
        self._pending = True
        for name, value in metrics.items():
            if name in _RESERVED:
                self._warn(name, "is not a valid metric name")
            elif self._has_room(self._metric_names, name):
                self._metric_names.add(name)
                self._metrics[name] = _as_it_is_now(value)

    def _has_room(self, kept: Collection[str], name: str) -> bool:
        """Returns False, with a warning, if the tuner would refuse a line to which this name is added."""
        if name in kept:
            return True
        if not 1 <= len(name.encode("utf-8", "replace")) <= _MAX_NAME_BYTES:
            self._warn(name[:40], "is not a valid name: 1 to %d bytes" % _MAX_NAME_BYTES)
            return False
        if len(kept) >= _MAX_NAMES:
            self._warn(name, "is one name too many: at most %d are reported" % _MAX_NAMES)
            return False
        return True

    def _print_if_due(self) -> None:
        now = time.monotonic() - self._begin
        if self._printed_s is None or now - self._printed_s >= _INTERVAL_S:
            self._printed_s = now
            self._print()

    def _print_phase(self, document: Dict[str, Any]) -> None:
        # Print earlier steps first. Phases are rare, so each phase is printed at once.
        if self._pending:
            self._print()
        self._write(document)

    def _print(self) -> None:
        self._pending = False
        metrics, self._metrics = self._metrics, {}
        document: Dict[str, Any] = {}
        if self._steps > 0:
            document["step"] = self._steps
            if self._samples > 0:
                document["samples"] = self._samples
            document["clock"] = round(self._last_step_s, 9)
        not_finite = []
        for name, value in metrics.items():
            number = self._number(name, value)
            if number is None:
                continue
            if math.isfinite(number):
                document[name] = number
            else:
                not_finite.append(name)
        if not_finite:
            document["not_finite"] = not_finite
        if self._parts:
            document["parts"] = {name: round(s, 9) for name, s in self._parts.items()}
        self._write(document)

    def _write(self, document: Dict[str, Any]) -> None:
        if self._process != os.getpid():
            return  # a forked child must not report the steps of its parent process
        document = dict({"v": 1}, **document)
        if self._reported_rank is not None:
            document["global_rank"] = self._reported_rank
        line = "[steptune] " + json.dumps(document, separators=(",", ":")) + "\n"
        try:
            # Write in one call, so that other threads' lines do not split it.
            sys.stdout.write(line)
            flush = getattr(sys.stdout, "flush", None)  # a program's own stdout object may lack it
            if flush is not None:
                flush()
        except Exception:
            # Nobody reads the output any more, or the program has no stdout. Training continues.
            self.active = False

    def _number(self, name: str, value: Any) -> Optional[float]:
        try:
            return float(value)
        except Exception as error:  # a tensor's library may raise anything
            self._warn(name, "is not a number: %s" % error)
            return None

    def _warn(self, name: str, why: str) -> None:
        if name not in self._warned and len(self._warned) < _MAX_WARNINGS:
            self._warned.add(name)
            with contextlib.suppress(Exception):  # a program may have closed stderr, or have none
                sys.stderr.write('steptune: "%s" %s; ignored\n' % (name, why))


_reporter = Reporter()
report = _reporter.report
metrics = _reporter.metrics
part = _reporter.part
timed = _reporter.timed
phase = _reporter.phase
begin_phase = _reporter.begin_phase
end_phase = _reporter.end_phase
flush = _reporter.flush
has_reported = _reporter.has_reported


def active() -> bool:
    """Returns True if this process prints reports."""
    return _reporter.active
