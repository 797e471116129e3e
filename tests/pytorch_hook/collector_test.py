# SPDX-License-Identifier: Apache-2.0
"""Tests the knob of Python's garbage collector: set after the first step, switched in a running program, and timed."""

import atexit
import gc
import re
import unittest

from harness import run, settings
from live_test import Tuner

STEPS = 120
NODES_A_STEP = 4


def cycles(*arguments, mode="report", prepare=None, before_hook=None, **keys):
    def unfreeze():
        gc.unfreeze()  # the test's own process has frozen its modules
        if prepare is not None:
            prepare()

    return run("cycles", *arguments, hook=settings(mode, **keys), prepare=unfreeze, before_hook=before_hook)


def with_gc(value, *arguments, **keys):
    return cycles(*arguments, interval_s=0, knobs={"gc": value}, **keys)


class Collector(unittest.TestCase):
    def most_frozen_automatic(self, ran):
        found = re.search(r"most (\d+), frozen (\w+), automatic (\w+)", ran.output)
        self.assertIsNotNone(found, ran.output)
        return int(found[1]), found[2] == "True", found[3] == "True"

    def losses(self, ran):
        return [line for line in ran.lines if line.startswith("loss")]

    def test_by_default_the_program_collects_as_ever(self):
        ran = cycles(interval_s=0, knobs={})
        row = ran.knob("gc")
        self.assertEqual((row["today"], row["value"], row["may"]), ("auto", "auto", True))
        self.assertEqual(self.most_frozen_automatic(ran)[1:], (False, True))

    def test_frozen_objects_are_left_out_and_new_ones_are_collected(self):
        ran = with_gc("freeze")
        self.assertEqual(ran.knob("gc")["value"], "freeze")
        _, frozen, automatic = self.most_frozen_automatic(ran)
        self.assertTrue(frozen and automatic, ran.output)
        self.assertEqual(self.losses(ran), self.losses(cycles(interval_s=0, knobs={})))

    def test_with_a_period_at_most_its_steps_leave_garbage(self):
        def collect_seldom():
            gc.set_threshold(10**8)

        ran = with_gc("every_50", prepare=collect_seldom)
        self.assertEqual(ran.knob("gc")["value"], "every_50")
        most, frozen, automatic = self.most_frozen_automatic(ran)
        self.assertTrue(frozen and not automatic, ran.output)
        # The hook collects after steps 10, 60 and 110.
        self.assertEqual(most, 50 * NODES_A_STEP)
        untouched, _, _ = self.most_frozen_automatic(cycles(interval_s=0, knobs={}, prepare=collect_seldom))
        self.assertEqual(untouched, STEPS * NODES_A_STEP)

    def test_plain_steps_are_counted(self):
        # Few lines are printed, so most steps are plain ones.
        ran = cycles(mode="apply", knobs={"gc": "every_50"}, prepare=lambda: gc.set_threshold(10**8))
        self.assertEqual(self.most_frozen_automatic(ran)[0], 50 * NODES_A_STEP)

    def test_workers_of_loaders_go_on_collecting(self):
        ran = with_gc("every_50", "workers")
        self.assertTrue(all("collects" in line for line in self.losses(ran)), ran.output)

    def test_nothing_stays_frozen_at_the_end(self):
        # This function runs after the hook's own.
        def print_at_exit():
            atexit.register(lambda: print("frozen at exit: %d" % gc.get_freeze_count()))

        for value in ("freeze", "every_50"):
            ran = with_gc(value, before_hook=print_at_exit)
            self.assertEqual(ran.knob("gc")["value"], value)
            self.assertIn("frozen at exit: 0", ran.lines)

    def test_a_program_that_manages_its_collector_is_left_alone(self):
        off = with_gc("freeze", "off")
        self.assertIn("switched the garbage collector off", off.knob("gc")["why"])
        self.assertEqual(self.most_frozen_automatic(off)[1:], (False, False))
        frozen = with_gc("every_50", "frozen")
        self.assertIn("freezes objects itself", frozen.knob("gc")["why"])
        self.assertTrue(self.most_frozen_automatic(frozen)[2])

    def test_a_program_that_switches_collection_on_again_is_told(self):
        row = with_gc("every_50", "enables").knob("gc")
        self.assertEqual((row["value"], row["may"]), ("auto", False))
        self.assertIn("the program sets it itself", row["why"])

    def test_a_value_that_is_none_is_refused(self):
        row = with_gc("never").knob("gc")
        self.assertFalse(row["may"])
        self.assertIn("every_50", row["why"])

    def test_it_is_switched_while_the_program_runs(self):
        switches = [
            {"from_step": 20, "configuration": 1, "knobs": {"gc": "every_50"}},
            {"from_step": 40, "configuration": 2, "knobs": {"gc": "freeze"}},
            {"from_step": 60, "configuration": 0, "knobs": {}},
        ]
        tuner = Tuner(switches)
        ran = cycles(mode="live", channel=tuner.path)
        rows = [m["hook"] for m in tuner.messages() if m.get("hook", {}).get("knob") == "gc"]
        self.assertEqual([row["value"] for row in rows], ["auto", "every_50", "freeze", "auto"])
        self.assertTrue(all(row["may"] for row in rows), rows)
        self.assertEqual(self.most_frozen_automatic(ran)[1:], (False, True))
        self.assertEqual(self.losses(ran), self.losses(cycles(interval_s=0, knobs={})))


class CollectorTime(unittest.TestCase):
    def test_a_survey_tells_the_share_of_a_step(self):
        busy = cycles(mode="survey", interval_s=0, prepare=lambda: gc.set_threshold(1))
        seldom = cycles(mode="survey", interval_s=0, prepare=lambda: gc.set_threshold(10**8))
        self.assertGreater(busy.steps[-1]["gc_share"], seldom.steps[-1]["gc_share"])
        self.assertEqual(seldom.steps[-1]["gc_share"], 0.0)
        self.assertLess(busy.steps[-1]["gc_share"], 1.0)

    def test_trials_and_long_runs_are_not_timed(self):
        self.assertNotIn("gc_share", cycles(interval_s=0, knobs={}).steps[-1])


if __name__ == "__main__":
    unittest.main()
