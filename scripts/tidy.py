#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over sources in parallel; a source that was clean is not looked at again until it changes.

    scripts/tidy.py [--analyze] [--staged | FILE ...]

Reads build/tidy/compile_commands.json. "Changes" means: the source, a project header that it includes (in however many steps),
its command line, .clang-tidy or clang-tidy itself. Without --analyze the path-sensitive checks (clang-analyzer-*) are left
out, which take most of the time. Headers of the product that no source includes first are compiled alone, too: so every
header is known to be self-contained. Stamps lie in build/tidy/clean.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PRODUCT = ("common", "search", "trial_runner", "tuner")
BUILD = ROOT / "build/tidy"
STAMPS = BUILD / "clean"
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.cache
def content(path):
    data = path.read_bytes()
    headers = [ROOT / name.decode() for name in INCLUDE.findall(data)]
    return data, [header for header in headers if header.is_file()]


def digest(source, command):
    """Of everything of the project that the findings in `source` depend on."""
    seen, waiting = {source}, [source]
    while waiting:
        for header in content(waiting.pop())[1]:
            if header not in seen:
                seen.add(header)
                waiting.append(header)
    whole = hashlib.sha256(command.encode())
    for path in sorted(seen):
        whole.update(str(path).encode() + b"\0" + content(path)[0])
    return whole.hexdigest()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyze", action="store_true", help="the path-sensitive checks, too")
    parser.add_argument("--staged", action="store_true", help="only sources staged for a commit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    return parser.parse_args()


def chosen(commands, arguments):
    sources = {pathlib.Path(entry["file"]): entry for entry in commands}
    names = arguments.files
    if arguments.staged:
        staged = subprocess.run(["git", "diff", "--cached", "--name-only", "--diff-filter=ACMR"], cwd=ROOT,
                                check=True, capture_output=True, text=True).stdout.split()
        names = [ROOT / name for name in staged]
    elif not names:
        names = sources
    resolved = [pathlib.Path(name).resolve() for name in names]
    return [sources[name] for name in resolved if name in sources and BUILD not in name.parents]


def headers_alone():
    """Compile commands of the headers that no source of their name includes first; those with LibTorch left out."""
    entries = []
    for folder in PRODUCT:
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            if header.with_suffix(".cpp").exists() or b"#include <torch/" in content(header)[0]:
                continue
            entries.append({"file": str(header), "command": f"c++ -std=c++20 -fsyntax-only -w -x c++ -I {ROOT} {header}"})
    return entries


def main():
    arguments = parse_arguments()
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    STAMPS.mkdir(exist_ok=True)
    checks = [] if arguments.analyze else ["--checks=-clang-analyzer-*"]
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_text() + str(checks)

    def look(entry):
        source = pathlib.Path(entry["file"])
        stamp = STAMPS / digest(source, settings + entry["command"])
        if stamp.exists():
            return source, None
        look_at = entry["command"].split() if source.suffix == ".hpp" else ["clang-tidy", "--quiet", "-p", BUILD, *checks, source]
        result = subprocess.run(look_at, cwd=ROOT, capture_output=True, text=True)
        if result.returncode == 0:
            stamp.touch()
        return source, result

    entries = chosen(commands + headers_alone(), arguments)
    looked = faulty = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for source, result in pool.map(look, entries):
            looked += result is not None
            if result is not None and result.returncode != 0:
                faulty += 1
                print(result.stdout, result.stderr, sep="", flush=True)
    print(f"tidy: {len(entries)} sources, {looked} looked at, {faulty} with findings")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
