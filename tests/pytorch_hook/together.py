# SPDX-License-Identifier: Apache-2.0
"""Runs test cases of the files beside it, each in a fork of one process that has imported torch.

    together.py                        all cases of all files
    together.py knobs live.Switches    some cases: files without their "_test.py", or classes of them
    together.py --part 2 of 7          every seventh of all cases, from the second on

A fork has imported nothing else, so a case runs as in a new interpreter.
"""

import ast
import atexit
import glob
import multiprocessing.util
import os
import runpy
import signal
import sys
import tempfile
import time

import harness

MOST_S = 900


def cases_of(script):
    """Returns the names of a file's test cases."""
    with open(os.path.join(harness.HERE, script + "_test.py")) as file:
        classes = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ClassDef)]
    return [script + "." + c.name for c in classes if any(_is_test(node) for node in c.body)]


def _is_test(node):
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def all_scripts():
    paths = sorted(glob.glob(os.path.join(harness.HERE, "*_test.py")))
    return [os.path.basename(path)[: -len("_test.py")] for path in paths]


def run_case(name):
    """Runs a case. True if it passed; prints its output if not."""
    script, case = name.split(".")
    output = tempfile.TemporaryFile()
    begun = time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _run_in_child(script + "_test.py", case, output.fileno())
    _, status = os.waitpid(child, 0)
    print("%s %s, %.1f s" % ("passed" if status == 0 else "FAILED", name, time.monotonic() - begun))
    output.seek(0)
    printed = output.read().decode(errors="replace")
    # unittest prints the names of skipped tests.
    kept = [line for line in printed.splitlines() if status != 0 or "skipped" in line]
    print(*kept, sep="\n", end="\n" if kept else "")
    if status != 0:
        print("%s ended with status %#x" % (name, status))
    return status == 0


def _run_in_child(script, case, output):
    atexit._clear()  # keeps the parent's folder
    atexit.register(multiprocessing.util._exit_function)  # ends the workers of loaders
    signal.alarm(MOST_S)
    status = 1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = [script, "--verbose", case]
        runpy.run_path(os.path.join(harness.HERE, script), run_name="__main__")
    except SystemExit as end:
        status = int(end.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main(names):
    if names[:1] == ["--part"]:
        part, parts = int(names[1]), int(names[3])
        names = [case for script in all_scripts() for case in cases_of(script)][part - 1 :: parts]
    failed = []
    for name in names or all_scripts():
        failed += [case for case in ([name] if "." in name else cases_of(name)) if not run_case(case)]
    for case in failed:
        print("FAILED", case)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
