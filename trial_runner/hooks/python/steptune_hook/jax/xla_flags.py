# SPDX-License-Identifier: Apache-2.0
"""Flags of XLA for the CPU. XLA ends a program that gives it an unknown flag, so flags are tried in another process."""

import os
import subprocess
import sys

VARIABLE = "XLA_FLAGS"
BY_CHOICE = {
    "fast_math": "--xla_cpu_enable_fast_math=true",
    "vectors_512": "--xla_cpu_prefer_vector_width=512",
    "concurrent_schedule": "--xla_cpu_enable_concurrency_optimized_scheduler=true",
    "no_xnnpack": "--xla_cpu_use_xnnpack=false",
}
_MOST_S = 60
_PROGRAM = "import jax; jax.devices('cpu')"


def known(choices):
    """Returns the choices whose flags XLA knows. Tries all at once, then, if that fails, each alone."""
    choices = list(choices)
    if not choices or _runs(choices):
        return choices
    return [] if len(choices) == 1 else [choice for choice in choices if _runs([choice])]


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
