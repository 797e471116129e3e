# SPDX-License-Identifier: Apache-2.0
"""Tests the measured queue of a loader with workers."""

import fcntl
import multiprocessing
import os
import sys
import termios
import types
import unittest
import unittest.mock

import torch
from harness import HOOK, run, settings
from torch.utils.data import DataLoader, Dataset

sys.path.append(HOOK)
from steptune_hook.pytorch import loader_queue, worker_cpu  # noqa: E402


class Gated(Dataset):
    """Data set that reports when an item is started, and holds some items until they may continue."""

    def __init__(self, held):
        self.begun = multiprocessing.Semaphore(0)
        self.may_go = {index: multiprocessing.Semaphore(0) for index in held}

    def __len__(self):
        return 12

    def __getitem__(self, index):
        self.begun.release()
        if index in self.may_go:
            self.may_go[index].acquire()
        return torch.tensor(index)


class Depth(unittest.TestCase):
    def iterate(self, held, workers, prefetch_factor):
        data = Gated(held)
        loader = DataLoader(data, batch_size=1, num_workers=workers, prefetch_factor=prefetch_factor)
        iterator = iter(loader)
        self.addCleanup(iterator._shutdown_workers)
        self.addCleanup(lambda: [gate.release() for gate in data.may_go.values()])
        return data, iterator

    def test_nothing_has_arrived(self):
        data, iterator = self.iterate(held=range(1, 12), workers=1, prefetch_factor=2)
        next(iterator)
        self.assertEqual(loader_queue.waiting_batches(iterator).depth, 0)
        data.may_go[1].release()
        next(iterator)
        self.assertEqual(loader_queue.waiting_batches(iterator).depth, 0)

    def test_finished_batches_wait(self):
        data, iterator = self.iterate(held=[4], workers=1, prefetch_factor=4)
        next(iterator)
        for _ in range(5):  # the fifth starts when the four before it are done
            data.begun.acquire()
        self.assertEqual(loader_queue.waiting_batches(iterator).depth, 3)

    def test_one_that_came_before_its_turn(self):
        data, iterator = self.iterate(held=[2, 4, 5], workers=2, prefetch_factor=2)
        next(iterator)
        next(iterator)
        # Wait until the batch after the held one has come, unless it came earlier.
        while iterator._worker_result_queue.empty() and len(iterator._task_info[3]) == 1:
            pass
        data.may_go[2].release()
        next(iterator)
        self.assertEqual(iterator._worker_result_queue.qsize(), 0)
        self.assertEqual(loader_queue.waiting_batches(iterator).depth, 1)

    def test_what_a_worker_has_done_ahead_of_its_turn_keeps_nobody_from_waiting(self):
        data, iterator = self.iterate(held=[2, 3, 5], workers=2, prefetch_factor=2)
        queue = loader_queue.LoaderQueue()
        next(iterator)
        next(iterator)
        data.may_go[3].release()
        of_one = self.until_sent(iterator, more_than=0)
        data.may_go[5].release()  # also lets the second worker continue
        self.until_sent(iterator, of_one)
        queue.requested(iterator)
        data.may_go[2].release()
        next(iterator)
        queue.requested(iterator)  # batch 3 is there
        self.assertEqual(queue.metrics()["loader_queue_empty_share"], 1.0)
        next(iterator)
        queue.requested(iterator)
        self.assertEqual(queue.metrics()["loader_queue_empty_share"], 0.5)

    def until_sent(self, iterator, more_than):
        """Waits for bytes in the pipe: a worker counts a batch before its sender thread writes it."""
        sent = bytearray(4)
        while int.from_bytes(sent, sys.byteorder) <= more_than:
            fcntl.ioctl(iterator._worker_result_queue._reader.fileno(), termios.FIONREAD, sent)
        return int.from_bytes(sent, sys.byteorder)

    def test_the_first_of_a_pass_is_left_out(self):
        _, iterator = self.iterate(held=[], workers=1, prefetch_factor=2)
        self.assertIsNone(loader_queue.waiting_batches(iterator))

    def test_a_system_that_cannot_count(self):
        _, iterator = self.iterate(held=[], workers=1, prefetch_factor=2)
        next(iterator)

        class Uncounted:
            def qsize(self):
                raise NotImplementedError()

        queue, iterator._data_queue = iterator._data_queue, Uncounted()
        self.assertIsNone(loader_queue.waiting_batches(iterator))
        iterator._data_queue = queue


class Iterator:
    """The attributes of PyTorch's iterator that the hook reads."""

    def __init__(self, *pids):
        self._rcvd_idx = 0
        self._workers = [types.SimpleNamespace(pid=pid) for pid in pids]


class WorkerCpu(unittest.TestCase):
    def setUp(self):
        self.now_s = 0.0
        self.used_s = {}
        for name, stand_in in (("perf_counter", lambda: self.now_s), ("cpu_s", lambda pid: self.used_s[pid])):
            patch = unittest.mock.patch.object(worker_cpu, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        self.seen = worker_cpu.WorkerCpu()

    def ask(self, iterator, number, now_s, **used_s):
        iterator._rcvd_idx = number
        self.now_s = now_s
        self.used_s = {int(pid[1:]): seconds for pid, seconds in used_s.items()}
        self.seen.requested(iterator)

    def test_share_of_all_workers_since_the_first_batch(self):
        iterator = Iterator(1, 2)
        self.ask(iterator, 0, 0.0)
        self.ask(iterator, 1, 5.0, p1=4.0, p2=4.0)  # the workers have started
        self.assertIsNone(self.seen.share())
        self.ask(iterator, 2, 5.5)  # too early for another measurement
        self.ask(iterator, 3, 7.0, p1=4.5, p2=4.25)
        self.assertAlmostEqual(self.seen.share(), 0.75 / 4)

    def test_workers_of_another_pass_are_counted_from_their_own_first_batch(self):
        first, second = Iterator(1), Iterator(2)
        self.ask(first, 1, 0.0, p1=0.0)
        self.ask(first, 2, 2.0, p1=1.0)
        self.ask(second, 0, 3.0)
        self.ask(second, 1, 4.0, p2=9.0)
        self.ask(second, 2, 6.0, p2=9.0)
        self.assertAlmostEqual(self.seen.share(), 0.25)

    def test_a_worker_that_has_ended_is_no_fault(self):
        def gone(pid):
            raise ProcessLookupError(pid)

        iterator = Iterator(1)
        self.ask(iterator, 1, 0.0, p1=0.0)
        with unittest.mock.patch.object(worker_cpu, "cpu_s", gone):
            self.ask(iterator, 2, 2.0)
        self.assertIsNone(self.seen.share())

    def test_the_share_is_reported(self):
        queue = loader_queue.LoaderQueue()
        iterator = Iterator(1)
        for number, now_s, used_s in ((1, 0.0, 0.0), (2, 2.0, 0.5)):
            iterator._rcvd_idx, self.now_s, self.used_s = number, now_s, {1: used_s}
            queue.requested(iterator)
        self.assertEqual(queue.metrics()["loader_worker_cpu_share"], 0.25)


class ProcessCpu(unittest.TestCase):
    def test_as_the_system_counts_it(self):
        before_s = worker_cpu.cpu_s(os.getpid())
        times = os.times()
        after_s = worker_cpu.cpu_s(os.getpid())
        self.assertLessEqual(before_s, times.user + times.system + 0.02)
        self.assertGreaterEqual(after_s, times.user + times.system - 0.02)


class Metrics(unittest.TestCase):
    def test_mean_and_share_of_the_last_batches(self):
        def script():
            # 67 of the 68 batches are requested after the loader is known to train.
            depths = iter([9] * 3 + [0] * 16 + [3] * 48)

            def waiting(iterator):
                return loader_queue.Waiting(iterator._rcvd_idx, early=0, queued=next(depths), is_next_early=False)

            loader_queue.waiting_batches = waiting

        ran = run("many_batches", hook=settings(interval_s=0), prepare=script)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run("many_batches").lines)
        self.assertNotIn("loader_queue_depth", ran.steps[0])  # the loader is not known to train yet
        # The next request shows whether the program waited for a batch.
        reported = [(r["loader_queue_depth"], r.get("loader_queue_empty_share")) for r in ran.steps[1:]]
        self.assertEqual(reported[:3], [(9.0, None), (9.0, 0.0), (9.0, 0.0)])
        self.assertEqual(reported[4], (27 / 5, 1 / 4))
        self.assertEqual(reported[-1], (48 * 3 / 64, 16 / 64))

    def test_no_workers_no_queue(self):
        ran = run("mnist", hook=settings(interval_s=0))
        self.assertFalse([r for r in ran.steps if "loader_queue_depth" in r])

    def test_persistent_workers(self):
        last = run("persistent", hook=settings(interval_s=0)).steps[-1]
        self.assertTrue(0 <= last["loader_queue_depth"] <= 4, last)


if __name__ == "__main__":
    unittest.main()
