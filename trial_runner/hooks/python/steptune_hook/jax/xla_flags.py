# SPDX-License-Identifier: Apache-2.0
"""Flags of XLA. XLA ends a program that gives it an unknown flag, so flags are tried in another process."""

import os
import subprocess
import sys

VARIABLE = "XLA_FLAGS"
_OVERLAP = "--xla_gpu_enable_latency_hiding_scheduler=true"
_COMBINE = " ".join(
    "--xla_gpu_%s_combine_threshold_bytes=134217728" % collective
    for collective in ("all_reduce", "all_gather", "reduce_scatter")
)
# A choice may have several flags. XLA knows the names of a GPU's flags on a CPU, too.
BY_CHOICE = {
    "fast_math": "--xla_cpu_enable_fast_math=true",
    "vectors_512": "--xla_cpu_prefer_vector_width=512",
    "concurrent_schedule": "--xla_cpu_enable_concurrency_optimized_scheduler=true",
    "no_xnnpack": "--xla_cpu_use_xnnpack=false",
    "overlap": _OVERLAP,
    "overlap_128MiB": _OVERLAP + " " + _COMBINE,
    "no_triton_gemm": "--xla_gpu_enable_triton_gemm=false",
    "no_command_buffers": "--xla_gpu_enable_command_buffer=",
}
_MOST_S = 60
_PROGRAM = "import jax; jax.devices('cpu')"


def known(choices):
    """Returns the choices whose flags XLA knows. Tries all at once, then, if that fails, each half."""
    choices = list(choices)
    if not choices or _runs(choices):
        return choices
    middle = len(choices) // 2
    return known(choices[:middle]) + known(choices[middle:]) if middle else []


def is_named(choice, text):
    """True if `text` has one of the choice's flags, with any value."""
    return any(flag.split("=")[0] in text for flag in BY_CHOICE[choice].split())


def is_set(choice, text):
    return set(BY_CHOICE[choice].split()) <= set(text.split())


def _runs(choices):
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    environment.pop("STEPTUNE_PYTHON", None)
    environment[VARIABLE] = " ".join(BY_CHOICE[choice] for choice in choices)
    try:
        process = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_MOST_S,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return process.returncode == 0
