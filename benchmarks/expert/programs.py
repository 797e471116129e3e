# SPDX-License-Identifier: Apache-2.0
"""The programs with known best settings: their descriptions, fresh copies, and measured speeds."""
import json
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DESCRIPTION = "truth.json"
# Debian's PyTorch belongs to /usr/bin/python3.
ENVIRONMENT = {**os.environ, "PATH": "/usr/bin:" + os.environ.get("PATH", ""), "PYTHONDONTWRITEBYTECODE": "1"}
# Without this variable, Python prints several lines at once to a pipe, so the times of lines would be wrong.
MEASURED_ENVIRONMENT = {**ENVIRONMENT, "PYTHONUNBUFFERED": "1"}
# Longest time from a program's start to its first line, in seconds. A neighbour may slow the start down.
START_S = 60
GRACE_S = 5
LEAST_LINES = 5


class Fault(Exception):
    """A program or its description is wrong."""


class Program:
    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        text = json.loads((folder / DESCRIPTION).read_text())
        self.limit = text["limit"]
        self.command = text["command"]
        self.prepare = text.get("prepare", [])
        self.progress = re.compile(text["progress"])
        self.best = text["best"]
        self.pays = set(text["pays"])
        self.measured = text.get("measured")

    @property
    def possible(self):
        """Returns the true speed-up of the best known settings over the untouched program; 1 if no better ones are known."""
        return self.measured["speed_up"] if self.best else 1.0


def all_programs(names=()):
    found = [Program(path.parent) for path in sorted(HERE.glob(f"programs/*/{DESCRIPTION}"))]
    unknown = set(names) - {program.name for program in found}
    if unknown:
        raise Fault(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in found)}")
    return [program for program in found if not names or program.name in names]


def edited(text, edits, name):
    for old, new in edits:
        if text.count(old) != 1:
            raise Fault(f"{name}: '{old}' occurs {text.count(old)} times; an edit needs one place")
        text = text.replace(old, new)
    return text


class Copy:
    """A fresh folder with a program, ready to run; `best` applies the best known settings to it."""

    def __init__(self, program, best=False, prepare=True):
        self.program = program
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"expert-{program.name}-"))
        shutil.copytree(program.folder, self.path, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(DESCRIPTION, "__pycache__"))
        self.command = list(program.command)
        self.variables = {}
        if best:
            for file, edits in program.best.get("edits", {}).items():
                path = self.path / file
                path.write_text(edited(path.read_text(), edits, f"{program.name}/{file}"))
            self.command += program.best.get("options", [])
            self.variables = program.best.get("environment", {})
        for words in program.prepare if prepare else ():
            made = subprocess.run(words, cwd=self.path, env=ENVIRONMENT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if made.returncode:
                raise Fault(f"{program.name}: {' '.join(words)} failed: {made.stdout[-2000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def speed(self, seconds, settle=3.0):
        return speed(self.program, self.command, self.path, seconds, settle, self.variables)


def end_group(process):
    """Ends a program and its workers: first SIGTERM, then SIGKILL."""
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
    process.stdout.close()


def progress_times(program, command, folder, enough, variables=None):
    """Returns the times of the lines that report progress, until `enough(times)` is true. Then ends the program."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=folder, env={**MEASURED_ENVIRONMENT, **(variables or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                   start_new_session=True)
        times, rest, begun = [], b"", time.monotonic()
        try:
            selector = selectors.DefaultSelector()
            selector.register(process.stdout, selectors.EVENT_READ)
            while not enough(times):
                if not times and time.monotonic() - begun > START_S:
                    raise Fault(f"{program.name}: no progress after {START_S} s")
                if not selector.select(0.5):
                    continue
                read = os.read(process.stdout.fileno(), 1 << 16)
                if not read:
                    process.wait()
                    errors.seek(0)
                    raise Fault(f"{program.name}: ended with {process.returncode} after {len(times)} lines of "
                                f"progress: {errors.read()[-2000:]}")
                now = time.monotonic()
                *lines, rest = re.split(rb"[\r\n]", rest + read)
                times += [now for line in lines if program.progress.search(line.decode(errors="replace"))]
        finally:
            end_group(process)
    return times


def speed(program, command, folder, seconds, settle, variables=None):
    """Returns progress lines per second. The measured window begins `settle` seconds after the first line, and ends
    after `seconds` with at least LEAST_LINES lines."""
    def window(times):
        return [moment for moment in times if moment >= times[0] + settle]

    def enough(times):
        return bool(times) and time.monotonic() > times[0] + settle + seconds and len(window(times)) >= LEAST_LINES

    measured = window(progress_times(program, command, folder, enough, variables))
    return (len(measured) - 1) / (measured[-1] - measured[0])
