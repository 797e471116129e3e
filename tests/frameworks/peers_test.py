# SPDX-License-Identifier: Apache-2.0
"""Plays a few evaluations of each peer of search_quality that is installed in this interpreter.

    scripts/frameworks peers hebo

STEPTUNE_SEARCH_QUALITY names the program; the default is that of build/release.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STEPTUNE_SEARCH_QUALITY", str(ROOT / "build/release/bin/search_quality"))
TABLE = {"name": "small", "csv": "small.csv", "objective": "seconds", "direction": "minimize", "params": [
    {"name": "batch", "kind": "ord", "values": ["1", "2", "4", "8"]},
    {"name": "workers", "kind": "ord", "values": ["0", "1", "2", "3"]},
    {"name": "mode", "kind": "cat", "values": ["a", "b", "c"]}]}
PEERS = {"optuna": ["optuna-tpe", "optuna-tpe-multivariate", "optuna-gp", "optuna-gp-log"], "smac": ["smac"],
         "ax": ["ax"], "nevergrad": ["nevergrad"], "hebo": ["hebo"]}


def installed():
    return [name for library, names in PEERS.items() if importlib.util.find_spec(library) for name in names]


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="steptune-peers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def play(self, searchers, *words):
        words = [*words, *(word for name in searchers for word in ("--searcher", name))]
        done = subprocess.run([PROGRAM, "--python", sys.executable, "--seeds", "1", "--json", "out.json", *words],
                              cwd=self.folder, capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        played = json.loads((self.folder / "out.json").read_text())["problems"][0]["searchers"]
        self.assertEqual([entry["searcher"] for entry in played], searchers)
        return {entry["searcher"]: entry for entry in played}

    def test_a_table_with_failures(self):
        rows = ["batch,workers,mode,seconds"]
        for batch in (1, 2, 4, 8):
            for workers in range(4):
                for cost, mode in enumerate("abc"):
                    failed = batch == 8 and mode == "c"
                    rows.append(f"{batch},{workers},{mode},{'' if failed else 1 / batch + 1 / (1 + workers) + cost}")
        (self.folder / "small.csv").write_text("\n".join(rows) + "\n")
        (self.folder / "small.json").write_text(json.dumps(TABLE))
        for name, entry in self.play(installed(), "--table", "small.json", "--trials", "25").items():
            evaluations = entry["seeds"][0]["evaluations"]
            self.assertEqual(len(evaluations), 25, name)
            # All peers avoid the slowest mode after a while: a third of the table has it.
            late = [evaluation["configuration"]["mode"] for evaluation in evaluations[10:]]
            self.assertLess(late.count("c"), 5, (name, late))
            self.assertGreater(entry["summary"]["thinking_s"], 0.0)

    def test_a_function_of_floats(self):
        """Random search needs 24 evaluations to come within 5 %."""
        names = [name for name in installed() if name != "optuna-gp-log"]
        for name, entry in self.play(names, "--function", "branin", "--trials", "25").items():
            values = [evaluation["values"][0] for evaluation in entry["seeds"][0]["evaluations"]]
            self.assertLess(min(values), 3.0, name)


if __name__ == "__main__":
    unittest.main()
