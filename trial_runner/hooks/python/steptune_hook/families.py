# SPDX-License-Identifier: Apache-2.0
"""The families of frameworks: the folders here with a table of knobs. Each family's package has `MODULES`, the modules
whose import it waits for, and `install(module)`, which is called after each of these imports."""

import importlib
import os

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_TABLE = "knobs.json"


def by_module():
    """Returns the packages of the families by the modules that they wait for."""
    waiting = {}
    for name in sorted(os.listdir(_FOLDER)):
        if os.path.isfile(os.path.join(_FOLDER, name, _TABLE)):
            package = importlib.import_module("steptune_hook." + name)
            waiting.update((module, package) for module in package.MODULES)
    return waiting


def read_table(family):
    """Returns the family's knobs in the order of its table. The tuner reads the same table. A text in the table is the
    name of a knob of the common table."""
    common = {knob["name"]: knob for knob in _read()}
    return [common[knob] if isinstance(knob, str) else knob for knob in _read(family)]


def _read(*folder):
    import json

    with open(os.path.join(_FOLDER, *folder, _TABLE), encoding="utf-8") as file:
        return json.load(file)["knobs"]
