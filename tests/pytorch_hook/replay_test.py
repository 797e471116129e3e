# SPDX-License-Identifier: Apache-2.0
"""Tests steps on kept batches at the end of a survey."""

import sys
import unittest

import torch
from harness import HOOK, run, settings
from loader_queue_test import Gated
from torch.utils.data import DataLoader

sys.path.append(HOOK)
from steptune_hook.pytorch import replay  # noqa: E402

STEPS = 160
PASS = 100  # batches
KEPT = 16
REPLAYED = 3 + 30  # warm-up and measured steps


def natural(begin, end):
    """Returns the batches of the untouched program, by their first item."""
    return [4 * (batch % PASS) for batch in range(begin, end)]


def survey(*arguments, after_steps=20, prepare=None, mode="survey"):
    def without_times():
        from steptune_hook.pytorch import replay

        replay._STEPS_S = replay._WARM_UP_S = 0.0
        replay._KEEPING_S = replay._MOST_S = 100.0
        if prepare is not None:
            prepare()

    requested = settings(mode, replay_batches={"after_s": 0, "after_steps": after_steps})
    return run("replayed", *arguments, hook=requested, prepare=without_times)


def seen(ran):
    return [int(item) for item in ran.lines[-1].split()[1:]]


class Replays(unittest.TestCase):
    def assert_replayed(self, ran, first):
        """`first`: number of the first kept batch."""
        self.assertEqual(ran.status, 0, ran.output)
        reported = ran.event("replay_ended")
        self.assertEqual(reported.get("steps"), 30, reported)
        self.assertGreater(reported["step_s"], 0)
        self.assertGreater(reported["before_step_s"], 0)
        kept = natural(first, first + KEPT)
        expected = natural(0, first + KEPT) + (3 * kept)[:REPLAYED]
        expected += natural(first + KEPT, STEPS)[: STEPS - len(expected)]
        self.assertEqual(seen(ran), expected)

    def test_kept_batches_come_again_and_then_the_loader_goes_on(self):
        self.assert_replayed(survey(), first=21)

    def test_with_workers(self):
        self.assert_replayed(survey("2"), first=21)

    def test_batches_that_the_program_takes_out_of_their_containers(self):
        self.assert_replayed(survey("pops"), first=21)

    def test_over_the_end_of_a_pass(self):
        self.assert_replayed(survey("1", after_steps=90), first=91)

    def test_over_the_end_of_a_loader(self):
        ran = survey("anew", after_steps=90)
        self.assertIsNotNone(ran.event("replay_ended").get("step_s"), ran.output)
        # Only a trained batch shows that a new loader is for training, so its first batch is not kept.
        kept = natural(91, 100) + natural(101, 108)
        self.assertEqual(seen(ran)[:140], natural(0, 108) + (2 * kept)[: 140 - 108])

    def test_replayed_steps_are_not_reported(self):
        ran = survey()
        self.assertEqual(ran.steps[-1]["step"], 21)
        self.assertEqual(ran.steps[-1]["samples"], 21 * 4)
        names = [event["event"] for event in ran.events]
        self.assertEqual(names[-2:], ["replay_begun", "replay_ended"])

    def test_the_step_time_before_the_replay_includes_the_loader(self):
        reported = survey("waits").event("replay_ended")
        self.assertGreaterEqual(reported["before_step_s"], 4 * 0.002)  # four items of 2 ms


class Refuses(unittest.TestCase):
    def assert_refused(self, ran, why):
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIn(why, ran.event("replay_ended")["why"])
        self.assertNotIn("step_s", ran.event("replay_ended"))

    def test_batches_that_the_program_changes(self):
        ran = survey("changes")
        self.assert_refused(ran, "changes its batches in place")
        self.assertEqual(seen(ran), (natural(0, 37) + natural(21, 37) + natural(37, STEPS))[:STEPS])

    def test_objects_that_it_does_not_know(self):
        ran = survey("objects")
        self.assert_refused(ran, "hold values of the type object")
        self.assertEqual(seen(ran), natural(0, STEPS))

    def test_batches_that_take_much_memory(self):
        def little_memory():
            from steptune_hook.pytorch import replay

            replay.free_bytes = lambda: 16

        ran = survey(prepare=little_memory)
        self.assert_refused(ran, "free memory")
        self.assertEqual(seen(ran), natural(0, STEPS))

    def assert_none(self, ran):
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("replay_begun"))
        self.assertEqual(seen(ran), natural(0, STEPS))

    def test_two_training_loaders_replay_nothing(self):
        self.assert_none(survey("two"))

    def test_two_training_loaders_from_one_place(self):
        ran = survey("alike")
        self.assert_refused(ran, "several loaders")
        self.assertEqual(seen(ran), natural(0, STEPS))

    def test_several_ranks_replay_nothing(self):
        def two_ranks():
            from steptune_hook import ranks

            ranks.together = lambda: 2

        self.assert_none(survey(prepare=two_ranks))

    def test_trials_replay_nothing(self):
        self.assert_none(survey(mode="report"))

    def test_a_program_that_fails_on_a_replayed_batch_reports_no_time(self):
        ran = survey("fails")
        self.assertEqual(ran.status, 1, ran.output)
        self.assertIn("this batch was here before", ran.output)
        self.assertIsNotNone(ran.event("replay_begun"))
        self.assertIsNone(ran.event("replay_ended"))


class KeptBatches(unittest.TestCase):
    def test_do_not_take_shared_memory(self):
        kept = replay._KeptBatch((torch.ones(3).share_memory_(), ["name", None]))
        tensor, others = kept.batch()
        self.assertFalse(tensor.is_shared())
        self.assertEqual(others, ["name", None])
        self.assertEqual(kept.bytes, 12)

    def test_a_queue_is_full_once_the_workers_have_nothing_to_do(self):
        data = Gated(held=[4, 7])
        iterator = iter(DataLoader(data, batch_size=1, num_workers=1, prefetch_factor=3))
        self.addCleanup(iterator._shutdown_workers)
        self.addCleanup(lambda: [gate.release() for gate in data.may_go.values()])
        next(iterator)
        next(iterator)  # batches 2, 3 and 4 are still loading
        self.assertFalse(replay._has_full_queue(iterator))
        data.may_go[4].release()
        while iterator._worker_result_queue.qsize() < 3:
            pass
        self.assertTrue(replay._has_full_queue(iterator))


if __name__ == "__main__":
    unittest.main()
