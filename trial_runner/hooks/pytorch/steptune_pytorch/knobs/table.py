# SPDX-License-Identifier: Apache-2.0
"""Reads knobs.json, which the tuner reads, too."""

import json
import os

_PATH = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "knobs.json"
)


def read_table():
    with open(_PATH, encoding="utf-8") as file:
        return json.load(file)["knobs"]
