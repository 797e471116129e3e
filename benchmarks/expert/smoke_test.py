#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each program trains and can be ended. Also tests that its measured best settings (`truth.json`) are well
formed and can be applied."""
import concurrent.futures
import contextlib
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import expert
import programs

TORCH = subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def uses_torch(program):
    return any("import torch" in path.read_text() for path in program.folder.glob("*.py"))


def count_progress_lines(program):
    """Runs the program until it has printed two lines of progress. Returns its name and the number of lines."""
    with programs.Copy(program) as copy:
        times = programs.progress_times(program, copy.command, copy.path, lambda seen: len(seen) >= 2)
    return program.name, len(times)


class Truths(unittest.TestCase):
    def test_there_are_fifteen_programs_or_more(self):
        self.assertGreaterEqual(len(programs.all_programs()), 15)

    def test_each_truth_is_well_formed(self):
        for program in programs.all_programs():
            with self.subTest(program.name):
                measured = program.measured
                self.assertGreater(len(measured["untouched_lines_per_s"]), 1)
                self.assertEqual(len(measured["untouched_lines_per_s"]), len(measured["best_lines_per_s"]))
                ratio = expert.mean_ratio(measured["untouched_lines_per_s"], measured["best_lines_per_s"])
                self.assertAlmostEqual(ratio / measured["speed_up"], 1, delta=0.01)
                self.assertEqual(bool(program.best), bool(program.pays))
                self.assertLessEqual(set(program.best), {"edits", "options", "environment"})
                if not program.best:
                    self.assertLess(abs(measured["speed_up"] - 1), 0.1)

    def test_an_unknown_name_is_a_fault(self):
        with self.assertRaisesRegex(programs.Fault, "no such program: wating; there are .*waiting"):
            programs.all_programs(["wating"])

    def test_an_edit_matches_exactly_one_place(self):
        self.assertEqual(programs.edited("a b", [["a", "c"]], "x"), "c b")
        with self.assertRaisesRegex(programs.Fault, "'a' occurs 2 times"):
            programs.edited("a a", [["a", "c"]], "x")


class Programs(unittest.TestCase):
    def test_each_makes_progress(self):
        runnable = [program for program in programs.all_programs() if TORCH or not uses_torch(program)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, lines in pool.map(count_progress_lines, runnable):
                self.assertGreaterEqual(lines, 2, name)

    def test_the_best_settings_of_each_can_be_applied(self):
        for program in programs.all_programs():
            with self.subTest(program.name), programs.Copy(program, best=True, prepare=False) as copy:
                for file in program.best.get("edits", {}):
                    if file.endswith(".py"):
                        compile((copy.path / file).read_text(), file, "exec")

    def test_a_program_that_ends_too_early_is_a_fault(self):
        program = programs.all_programs(["evolution"])[0]
        with programs.Copy(program) as copy:
            with self.assertRaisesRegex(programs.Fault, "ended with 0 after 1 lines"):
                programs.progress_times(program, [*copy.command, "--generations", "1"], copy.path, lambda _: False)


class Figures(unittest.TestCase):
    def test_share_of_a_gain_is_logarithmic(self):
        self.assertAlmostEqual(expert.gain_share(2, 4), 0.5)
        self.assertIsNone(expert.gain_share(1, 1.02))

    def test_turns_alternate(self):
        order = []
        expert.in_turns(lambda: order.append("A"), lambda: order.append("B"), 2)
        self.assertEqual(order, ["A", "B", "B", "A"])

    def test_only_settings_that_the_recommendation_names_are_changes(self):
        # The baseline has no workers and so no `prefetch`. Its default with workers does not count as a change.
        recommendation = {"configuration": {"workers": 2, "prefetch": 2, "b": 0}, "changed": ["workers"]}
        self.assertEqual(expert.changes({"recommendation": recommendation}), {"workers": 2})

    def test_results_become_a_table(self):
        found = {"program": "x", "limit": "data", "possible": 4.0, "verdict": "faster", "claimed": 2.0,
                 "interval": [1.9, 2.1], "changes": {}, "true": 2.0, "true_share": 0.5, "claimed_share": 0.5,
                 "needless": ["malloc"], "seconds": 180}
        nothing = found | {"possible": 1.0, "claimed": None, "claimed_share": None, "needless": []}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.jsonl"
            path.write_text(f"{json.dumps(found)}\n{json.dumps(nothing)}\n")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                expert.table(types.SimpleNamespace(file=[str(path)]))
        self.assertIn("| x | data | 4.00 | faster | 2.00 (1.90-2.10) | 2.00 | 50 % | malloc | 180 |", printed.getvalue())
        self.assertIn("2 of 2 decided rightly; 0 false claims; 1 found the gain; mean share of the gain claimed 50 %; "
                      "needless changes: 1", printed.getvalue())
        self.assertTrue(math.isclose(expert.FOUND, 0.9))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
