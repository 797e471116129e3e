# SPDX-License-Identifier: Apache-2.0
"""Tests the parts of a step in the GPU's time, with a fake GPU whose clock is scripted."""

import sys
import unittest
from unittest import mock

from harness import HOOK, run, settings

sys.path.append(HOOK)
import torch  # noqa: E402
from steptune_hook import part_clock  # noqa: E402
from steptune_hook.part_clock import DATA, OTHER, PARTS, PREPARE  # noqa: E402
from steptune_hook.pytorch import gpu_events, gpu_parts  # noqa: E402

GPU_MS = {"wait": 2.0, "forward": 3.0, "backward": 4.0, "optimizer": 1.0}


class Event:
    def __init__(self, gpu):
        self._gpu = gpu
        self.at_ms = gpu.now_ms

    def query(self):
        return self.at_ms <= self._gpu.reached_ms

    def elapsed_time(self, later):
        assert self.query() and later.query(), "this would wait for the GPU"
        return later.at_ms - self.at_ms


class Gpu:
    """Fake GPU. Work in its stream takes its time; `reached_ms` says how far it has got."""

    def __init__(self):
        self.now_ms = 0.0
        self.reached_ms = 0.0
        self.captures = False
        self.recorded = 0

    def record(self):
        if self.captures:
            return None
        self.recorded += 1
        return Event(self)


class Clock:
    """The program's PartClock, set by hand."""

    def __init__(self):
        self.totals_s = [0.0] * (len(PARTS) + 1)

    def confirmed_training_s(self):
        return sum(self.totals_s)


class Parts(unittest.TestCase):
    def setUp(self):
        self.gpu = Gpu()
        self.clock = Clock()
        self.parts = gpu_parts.GpuParts(self.gpu, self.clock)
        self.steps = 0

    def step(self, micro_batches=1, phase=False, host_s=((DATA, 0.5), (PREPARE, 0.5)), **gpu_ms):
        """Makes one step. The program needs `host_s` between two steps, the GPU GPU_MS or `gpu_ms`."""
        takes = dict(GPU_MS, **gpu_ms)
        for _ in range(micro_batches):
            for part, seconds in host_s:
                self.clock.totals_s[part] += seconds
            self.gpu.now_ms += takes["wait"]
            self.parts.forward_begins()
            self.gpu.now_ms += takes["forward"]
            self.parts.forward_ended()
            if phase:
                self.parts.dropped()
            self.gpu.now_ms += takes["backward"]
            self.parts.backward_ended()
        self.gpu.now_ms += takes["optimizer"]
        self.steps += 1
        self.parts.step_ended(self.steps)

    def steps_until(self, last):
        while self.steps < last:
            self.step()

    def reach(self):
        self.gpu.reached_ms = self.gpu.now_ms

    def shares(self):
        reported = self.parts.parts()
        whole = sum(reported.values())
        return {name: round(seconds / whole, 3) for name, seconds in reported.items() if seconds}

    def idle_share(self):
        return round(self.parts.metrics()["gpu_idle_share"], 6)

    def test_are_those_of_the_gpu_and_add_up_to_the_training(self):
        self.steps_until(3)
        self.reach()
        self.assertEqual(
            self.shares(), {"prepare": 0.2, "forward": 0.3, "backward": 0.4, "optimizer": 0.1}
        )
        self.assertAlmostEqual(sum(self.parts.parts().values()), 1.0)  # only the third step
        self.assertEqual(self.idle_share(), 0.2)
        self.steps_until(11)
        self.reach()
        self.assertAlmostEqual(sum(self.parts.parts().values()), 9.0)

    def test_are_unknown_until_the_gpu_got_there(self):
        self.steps_until(9)
        self.assertIsNone(self.parts.parts())
        self.assertEqual(self.parts.metrics(), {})
        self.gpu.reached_ms = 29.0  # the third step ends at 30
        self.assertIsNone(self.parts.parts())
        self.gpu.reached_ms = 30.0
        self.assertIsNotNone(self.parts.parts())

    def test_counters_never_go_back(self):
        before = [0.0] * len(PARTS)
        for index in range(100):
            self.step(wait=(index * 7) % 11, forward=(index * 5) % 13)
            self.reach()
            reported = self.parts.parts()
            if reported is not None:
                now = list(reported.values())
                self.assertTrue(all(a >= b for a, b in zip(now, before)), (now, before))
                before = now
        self.assertGreater(sum(before), 80.0)

    def test_one_short_step_in_eight(self):
        while self.steps < 800:
            self.step(host_s=((DATA, 0.002),))
        # Five events: the previous step's end, start and end of the forward, ends of backward and step.
        self.assertAlmostEqual(self.gpu.recorded / 5, 100, delta=12)

    def test_every_long_step(self):
        while self.steps < 2 + 100:
            self.step(host_s=((DATA, 0.06),))
        self.assertEqual(self.gpu.recorded, 100 * 5 + 1)

    def test_batches_that_come_several_at_once(self):
        # Four workers deliver four batches at once, then the program waits for the next four.
        for at_once in (2, 4, 8, 16):
            for step_s in (0.002, 0.08):
                self.setUp()
                while self.steps < 4000:
                    waits = self.steps % at_once == 0
                    ms = 1e3 * step_s
                    self.step(host_s=((DATA, step_s if waits else 0.0), (OTHER, step_s)), wait=ms if waits else 0.0,
                              forward=ms / 2, backward=ms / 2, optimizer=0.0)
                    self.reach()
                self.assertAlmostEqual(self.shares()["data"], 1 / (1 + at_once), delta=0.05)

    def test_a_gpu_far_behind_leaves_few_events(self):
        self.steps_until(8 * 100)
        self.assertLessEqual(len(self.parts._unread), 8)

    def test_waiting_is_what_the_program_did_last(self):
        self.steps_until(2)
        self.step(host_s=((OTHER, 0.09), (DATA, 0.02), (PREPARE, 0.003)), wait=10.0)
        self.reach()
        # While the GPU waited for 10 ms, the program spent 7 ms on data and then 3 ms on preparing. A step takes 18 ms.
        reported = self.parts.parts()
        whole = sum(reported.values())
        self.assertAlmostEqual(reported["prepare"] / whole, 3 / 18, places=3)
        self.assertAlmostEqual(reported["data"] / whole, 7 / 18, places=3)
        self.assertEqual(reported["other"], 0.0)

    def test_waiting_beyond_what_the_program_did(self):
        self.steps_until(2)
        self.step(host_s=((DATA, 0.004),), wait=10.0)
        self.reach()
        # The GPU waited for 10 ms. The program spent 4 ms of them on data and no part accounts for the others.
        self.assertEqual(self.shares()["data"], round(4 / 18, 3))
        self.assertEqual(self.shares()["other"], round(6 / 18, 3))

    def test_micro_batches(self):
        self.steps_until(2)
        self.step(micro_batches=3)
        self.reach()
        self.assertEqual(self.shares()["forward"], round(9 / 28, 3))
        self.assertEqual(self.idle_share(), round(6 / 28, 6))

    def test_two_outermost_modules(self):
        self.steps_until(2)
        self.parts.forward_begins()
        self.gpu.now_ms += 5.0
        self.parts.forward_ended()
        self.step()  # its wait is between two forwards
        self.reach()
        self.assertEqual(self.shares()["forward"], round(10 / 15, 3))

    def test_a_step_with_a_phase_in_it_does_not_count(self):
        self.steps_until(2)
        self.step(phase=True, forward=1000.0)
        self.reach()
        self.assertIsNone(self.parts.parts())
        self.steps_until(11)
        self.reach()
        self.assertEqual(self.shares()["forward"], 0.3)

    def test_nothing_is_recorded_into_a_graph(self):
        self.steps_until(2)
        self.gpu.captures = True
        self.steps_until(20)
        self.reach()
        self.assertIsNone(self.parts.parts())

    def test_a_step_of_very_many_events(self):
        self.steps_until(2)
        self.step(micro_batches=1000)
        self.reach()
        self.assertIsNone(self.parts.parts())


class InPrograms(unittest.TestCase):
    """With a fake GPU, each event is a millisecond after the previous one."""

    def ran(self, name):
        def gpu_of_a_millisecond_an_event():
            from steptune_hook.pytorch import gpu_events

            class Ticking(Gpu):
                def record(self):
                    self.now_ms += 1.0
                    self.reached_ms = self.now_ms
                    return super().record()

            gpu_events.of = lambda losses: Ticking()

        ran = run(name, hook=settings(interval_s=0), prepare=gpu_of_a_millisecond_an_event)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertIsNone(ran.event("disabled"), ran.output)
        self.assertEqual(ran.lines, run(name).lines)
        return ran

    def check(self, ran, *expected):
        """Checks the shares of one step: waiting, forward, backward, optimizer."""
        parts = ran.steps[-1]["parts"]
        whole = sum(parts.values())
        waits = parts["data"] + parts["prepare"] + parts["other"]
        reported = [waits, parts["forward"], parts["backward"], parts["optimizer"]]
        for seconds, events in zip(reported, expected):
            self.assertAlmostEqual(seconds / whole, events / sum(expected), delta=0.01)

    def test_a_loop(self):
        ran = self.ran("mnist")
        self.check(ran, 1, 1, 1, 1)
        self.assertEqual(ran.steps[-1]["gpu_idle_share"], 0.25)
        self.assertFalse([r["step"] for r in ran.steps[1:2] if "parts" in r])

    def test_micro_batches(self):
        self.check(self.ran("accumulation"), 4, 4, 4, 1)

    def test_two_optimizers(self):
        # Three batches, one of which goes through both networks, and steps of two optimizers.
        self.check(self.ran("gan"), 3, 5, 3, 2)

    def test_a_teacher_is_part_of_the_forward(self):
        # The teacher's forward, the time before the student's forward, and that forward.
        self.check(self.ran("teacher"), 1, 3, 1, 1)

    def test_closure(self):
        for name in ("lbfgs", "lightning_style"):
            self.ran(name)

    def test_no_gpu_in_use(self):
        ran = run("mnist", hook=settings(interval_s=0))
        self.assertNotIn("gpu_idle_share", ran.steps[-1])
        self.assertEqual(len([r for r in ran.steps if "parts" in r]), 15)

    def test_memory_is_that_of_the_gpu_that_has_the_loss(self):
        reserved = {None: 1 << 20, "cuda:1": 1 << 30}
        on_gpu = mock.Mock(is_cuda=True, device="cuda:1")
        on_cpu = mock.Mock(is_cuda=False)
        with mock.patch.object(torch.cuda, "max_memory_reserved", reserved.get):
            self.assertIsNone(gpu_events.peak_bytes([on_gpu]))  # no GPU is in use
            with mock.patch.object(torch.cuda, "is_initialized", return_value=True):
                self.assertEqual(gpu_events.peak_bytes([on_cpu, on_gpu]), 1 << 30)
                self.assertEqual(gpu_events.peak_bytes([on_cpu]), 1 << 20)

        def gpu_with_memory():
            gpu_events.peak_bytes = lambda losses: 1 << 30

        ran = run("mnist", hook=settings(interval_s=0), prepare=gpu_with_memory)
        self.assertEqual({report["gpu_peak_bytes"] for report in ran.steps}, {1 << 30})
        self.assertNotIn("gpu_peak_bytes", run("mnist", hook=settings(interval_s=0)).steps[-1])

    def test_both_kinds_of_parts_have_the_same_interface(self):
        own = {name for name in vars(part_clock.HostParts) if not name.startswith("_")}
        of_gpu = {name for name in vars(gpu_parts.GpuParts) if not name.startswith("_")}
        self.assertEqual(own, of_gpu)


if __name__ == "__main__":
    unittest.main()
