# SPDX-License-Identifier: Apache-2.0
"""Knobs that are variables of the environment: the tuner sets them, the hook reads them."""

import os

import torch

from steptune_pytorch.knobs.row import Row


class EnvironmentKnobs:
    def __init__(self, table):
        self._knobs = [knob for knob in table if knob["applied"] == "environment"]

    def rows(self):
        for knob in self._knobs:
            today = _value(knob)
            yield Row(knob["name"], today=today, why=_why_not(knob["name"]))


def _value(knob):
    """The value whose variables are set as they are now."""
    for value, variables in knob["environment"].items():
        if not variables or not all(name in os.environ for name in variables):
            continue
        if value == "*":
            text = os.environ[next(iter(variables))]
            return int(text) if knob["parameter"]["type"] == "int" and text.isdigit() else text
        if all(os.environ[name] == text for name, text in variables.items()):
            return value
    for name in knob.get("otherwise", ()):
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdigit() and int(first) > 0:
            return int(first)
    return len(os.sched_getaffinity(0)) if knob["today"] == "cpus" else knob["today"]


def _why_not(name):
    if name == "cuda_alloc_conf" and not torch.cuda.is_available():
        return "no GPU"
    if name == "openblas_threads" and torch.backends.mkl.is_available():
        return "this PyTorch computes with MKL, which follows num_threads"
    if name == "omp_wait_policy" and not torch.backends.openmp.is_available():
        return "this PyTorch is built without OpenMP"
    return None
