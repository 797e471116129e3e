#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy in parallel over the unity sources, as the build compiles them: parsing headers takes most of the time.

    scripts/tidy.py [--analyze] [--product | --staged | FILE ...]

Reads build/tidy/compile_commands.json. Without --analyze the path-sensitive checks (clang-analyzer-*) are left out, which
take most of the remaining time. A FILE is checked alone, with the options of the unity source that includes it. Headers
of the product that no source includes first are also compiled alone, so every header is known to be self-contained.
~/.cache/steptune/tidy records clean sources by content. A source is checked again if one of these changes: its content,
a project header that it includes (directly or not), its command line, .clang-tidy, clang-tidy itself.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PRODUCT = ("common", "search", "trial_runner", "tuner")
BUILD = ROOT / "build/tidy"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
STAMPS = CACHE / "steptune/tidy"
# Options of GCC that clang does not know.
GNU_OPTIONS = {"-fvect-cost-model=dynamic"}
LIBTORCH = re.compile(rb'^\s*#\s*include\s*<(torch|ATen|c10)/', re.MULTILINE)
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.cache
def content(path):
    data = path.read_bytes()
    included = [ROOT / name.decode() for name in INCLUDE.findall(data)]
    return data.replace(str(ROOT).encode(), b""), [file for file in included if file.is_file()]


def reached(source):
    """Returns `source` and all project files that it includes, directly or not."""
    seen, waiting = {source}, [source]
    while waiting:
        for file in content(waiting.pop())[1]:
            if file not in seen:
                seen.add(file)
                waiting.append(file)
    return seen


def uses_libtorch(source):
    return any(LIBTORCH.search(content(file)[0]) for file in reached(source))


def digest(source, settings):
    """Returns the digest of all project content that the findings in `source` depend on."""
    seen = reached(source)
    whole = hashlib.sha256(settings.replace(str(ROOT), "").encode())
    for path in sorted(seen):
        whole.update(str(path.relative_to(ROOT)).encode() + b"\0" + content(path)[0])
    return whole.hexdigest()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyze", action="store_true", help="the path-sensitive checks, too")
    parser.add_argument("--product", action="store_true", help="without tests, benchmarks and examples")
    parser.add_argument("--staged", action="store_true", help="only sources staged for a commit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    return parser.parse_args()


def for_clang(command):
    return shlex.join(option for option in shlex.split(command) if option not in GNU_OPTIONS)


def without_libtorch(sources):
    """Replaces sources that use LibTorch by their parts that do not. clang 16 rejects, as C++20, the vector of
    an incomplete type in ATen/core/ivalue_inl.h."""
    result = {}
    for source, command in sources.items():
        for part in content(source)[1] if uses_libtorch(source) else [source]:
            if not uses_libtorch(part):
                result[part] = command.replace(str(source), str(part))
    return result


def compile_commands():
    """Returns the command line of each source of the build, except for sources that the build generates."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    return {pathlib.Path(entry["file"]): for_clang(entry["command"]) for entry in entries
            if os.path.exists(entry["file"]) and not entry["file"].endswith(".pb.cc")}


def of_product(source):
    return source.relative_to(BUILD if BUILD in source.parents else ROOT).parts[0] in PRODUCT


def alone(commands, files):
    """Returns the commands of single files, each with the options of the source that includes it."""
    of_file = {file: (source, command) for source, command in commands.items() for file in [source, *content(source)[1]]}
    chosen = {}
    for file in files:
        if file in of_file:
            source, command = of_file[file]
            chosen[file] = command.replace(str(source), str(file))
    return chosen


def staged_files():
    names = subprocess.run(["git", "diff", "--cached", "--name-only", "--diff-filter=ACMR"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names]


def headers_alone():
    """Returns the headers of the product without a source of the same name, except for those that use LibTorch."""
    headers = {}
    for folder in PRODUCT:
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            if not header.with_suffix(".cpp").exists() and not uses_libtorch(header):
                headers[header] = f"c++ -std=c++20 -fsyntax-only -w -x c++ -I {ROOT} {header}"
    return headers


def main():
    arguments = parse_arguments()
    sources = compile_commands()
    if arguments.staged or arguments.files:
        files = staged_files() if arguments.staged else [file.resolve() for file in arguments.files]
        sources = alone(sources, files)
    else:
        if arguments.product:
            sources = {source: command for source, command in sources.items() if of_product(source)}
        sources = without_libtorch(sources) | headers_alone()
    STAMPS.mkdir(parents=True, exist_ok=True)
    checks = [] if arguments.analyze else ["--checks=-clang-analyzer-*"]
    version = subprocess.run(["clang-tidy-16", "--version"], check=True, capture_output=True, text=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_text() + str(checks)

    def look(source):
        command = sources[source]
        stamp = STAMPS / digest(source, settings + command)
        if stamp.exists():
            return None
        options = shlex.split(command)
        if source.suffix != ".hpp":
            options = ["clang-tidy-16", "--quiet", *checks, source, "--", *(o for o in options[1:] if o != str(source))]
        result = subprocess.run(options, cwd=ROOT, capture_output=True, text=True)
        if result.returncode == 0:
            stamp.touch()
        return result

    looked = faulty = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(look, sources):
            looked += result is not None
            if result is not None and result.returncode != 0:
                faulty += 1
                print(result.stdout, result.stderr, sep="", flush=True)
    print(f"tidy: {len(sources)} sources, {looked} looked at, {faulty} with findings")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
