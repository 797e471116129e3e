# SPDX-License-Identifier: Apache-2.0
"""Tests many configurations in one run of a program: losses equal those of the untouched program to the last bit, for
all switches."""

import json
import os
import re
import socket
import sys
import tempfile
import traceback
import unittest

from harness import HOOK, free_port, launch_environment, run, settings, start


class Tuner:
    """Fake tuner: a process that sends switches for given steps, and keeps the messages it receives."""

    def __init__(self, switches, dies_after=None):
        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "tuner")
        self._received = os.path.join(self._folder.name, "reported")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self.path)
        listener.listen(8)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._serve(listener, switches, dies_after)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        listener.close()

    def _serve(self, listener, switches, dies_after):
        with listener:
            connection, _ = listener.accept()
        with connection, open(self._received, "w", encoding="ascii") as reported:
            while True:
                packet = connection.recv(1 << 16)
                if not packet:
                    return
                reported.write(packet.decode() + "\n")
                reported.flush()
                message = json.loads(packet)
                if "hello" in message:
                    for switch in switches:
                        connection.send(json.dumps({"switch": switch}).encode())
                if dies_after is not None and message.get("step", 0) >= dies_after:
                    return

    def messages(self):
        os.waitpid(self._pid, 0)
        with open(self._received, encoding="ascii") as reported:
            messages = [json.loads(line) for line in reported]
        self._folder.cleanup()
        return messages


def switch(from_step, configuration=1, last=False, **knobs):
    message = {"from_step": from_step, "configuration": configuration, "knobs": knobs}
    return dict(message, last=True) if last else message


class Live(unittest.TestCase):
    def ran(self, name, *arguments, switches=(), silence_s=None, prepare=None, **keys):
        tuner = Tuner(switches, **keys)
        requested = {} if silence_s is None else {"silence_s": silence_s}
        ran = run(name, *arguments, hook=settings("live", channel=tuner.path, **requested), prepare=prepare)
        self.assertEqual(ran.status, 0, ran.output)
        return ran, tuner.messages()

    def same(self, name, *arguments, switches=(), **keys):
        ran, messages = self.ran(name, *arguments, switches=switches, **keys)
        self.assertEqual(ran.lines, run(name, *arguments).lines)
        self.assertFalse([m for m in messages if m.get("hook", {}).get("event") == "disabled"])
        return messages

    def row(self, messages, knob, value):
        """Returns the knob's last row with the value, otherwise its last row."""
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == knob]
        return next((row for row in reversed(rows) if row.get("value") == value), rows[-1])


class Switches(Live):
    def test_workers_in_one_epoch_and_in_two(self):
        for epochs in ("1", "2"):
            for workers in (1, 2):
                at = [switch(4, 1, num_workers=workers), switch(5, 0), switch(8, 1, num_workers=workers)]
                self.same("mnist", epochs, switches=at)

    def test_workers_in_mid_epoch(self):
        messages = self.same(
            "mnist",
            switches=[
                switch(5, 1, num_workers=2),
                switch(9, 0),
                switch(12, 2, num_workers=1, prefetch_factor=3),
                switch(15, 1, num_workers=2),
            ],
        )
        self.assertTrue(self.row(messages, "num_workers", 2)["may"])
        self.assertTrue(self.row(messages, "num_workers", 1)["may"])
        steps = [m for m in messages if "step" in m]
        self.assertTrue({0, 1, 2} <= {m["configuration"] for m in steps}, steps)
        self.assertTrue(any(m["warm_up"] for m in steps if m["configuration"]))

    def test_workers_beside_noise_in_the_forward(self):
        for prefetch in (1, 3):
            self.same(
                "vae",
                switches=[
                    switch(4, 1, num_workers=1, prefetch_factor=prefetch),
                    switch(6, 0),
                    switch(8, 1, num_workers=1, prefetch_factor=prefetch),
                    switch(13, 2, num_workers=2),
                ],
            )

    def test_workers_that_the_program_keeps(self):
        self.same("persistent", switches=[switch(4, 1, num_workers=0), switch(6, 0)])

    def test_the_step_that_was_named(self):
        messages = self.same("mnist", switches=[switch(7, 1, set_to_none=True)])
        reported = {m["step"]: m["configuration"] for m in messages if "step" in m}
        self.assertEqual({reported[step] for step in reported if step < 7}, {0})
        self.assertEqual({reported[step] for step in reported if step >= 7}, {1})

    def test_the_warm_up_after_a_switch_of_kernels_in_both_directions(self):
        """The baseline warms up again as long as the trial before it."""
        at = [
            switch(5, 1, num_threads=2),
            switch(15, 0),
            switch(25, 2, num_threads=2, set_to_none=True),
            switch(35, 1, num_threads=2),
        ]
        _, messages = self.ran("mnist", "9", switches=at)
        for first, steps in ((5, 5), (15, 5), (25, 5), (35, 2)):
            block = [m for m in messages if first <= m.get("step", 0) < first + 10]
            self.assertEqual(min(m["step"] for m in block if not m["warm_up"]) - first, steps, block)

    def test_other_programs(self):
        for name in ("gan", "lightning_style", "trainer_style", "accelerate_style", "teacher", "accumulation"):
            self.same(name, switches=[switch(4, 1, num_workers=1), switch(6, 0)])

    def test_precision_comes_back(self):
        ran, messages = self.ran(
            "mnist", switches=[switch(5, 1, precision="bf16", channels_last=True), switch(9, 0)]
        )
        self.assertTrue(self.row(messages, "precision", "bf16")["may"])
        self.assertTrue(self.row(messages, "precision", "fp32")["may"])
        before = run("mnist").lines
        self.assertEqual(ran.lines[:4], before[:4])
        self.assertEqual(len(ran.lines), len(before))

    def test_a_layout_that_the_model_does_not_take(self):
        for program in (("view_after_convolution",), ("view_after_convolution", "autocast"), ("state_in_forward", "view")):
            messages = self.same(*program, switches=[switch(4, 1, channels_last=True)])
            rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "channels_last"]
            self.assertFalse(rows[-1]["may"])
            self.assertIn("the model does not take it", rows[-1]["why"])


class TwoLoaders(Live):
    """Tests that the order of samples is drawn at the same time as in the untouched program."""

    def same_with(self, own, first, second):
        switches = [switch(5, 1, num_workers=first), switch(13, 2, num_workers=second), switch(17, 0), switch(20, 1, num_workers=first)]
        for way in ("zip", "nested", "held"):
            with self.subTest(way):
                messages = self.same("two_loaders", way, str(own), switches=switches)
                self.assertTrue(self.row(messages, "num_workers", first)["may"])
                self.assertTrue(self.row(messages, "num_workers", second)["may"])

    def test_of_a_program_without_workers(self):
        self.same_with(0, 1, 2)

    def test_of_a_program_with_workers(self):
        self.same_with(1, 0, 2)

    def test_with_one_generator(self):
        for way in ("zip", "nested", "held"):
            for whose in ("generator", "samplers"):
                with self.subTest(way + " " + whose):
                    switches = [switch(5, 1, num_workers=2)]
                    row = self.row(self.same("two_loaders", way, whose, switches=switches), "num_workers", 2)
                    self.assertFalse(row["may"])
                    self.assertIn("share a generator", row["why"])


class WorkersOnTrial(Live):
    """Tests failing workers: the program's own settings continue, and no batch is lost or read twice."""

    def taken_back(self, kind, workers, *arguments, **keys):
        messages = self.same("own_workers", kind, *arguments, switches=[switch(6, 1, num_workers=workers), switch(40, 0)], **keys)
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "num_workers"]
        self.assertEqual((rows[-1]["may"], rows[-1]["value"]), (False, rows[0]["today"]), rows)
        return rows[-1]["why"]

    def test_that_fail(self):
        self.assertIn("cannot be forked", self.taken_back("raises", 2))

    def test_that_are_killed(self):
        self.assertIn("exited unexpectedly", self.taken_back("dies", 2))

    def test_that_are_killed_from_outside(self):
        for step in ("7", "20"):
            self.assertIn("exited unexpectedly", self.taken_back("kills", 2, step))

    def same_with_one_killed(self, kind, step, switches, whose):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "killed")
            messages = self.same("own_workers", kind, step, path, switches=switches)
            with open(path, encoding="ascii") as file:  # the untouched program has no workers to kill
                self.assertEqual(file.read(), whose)
        return messages

    def test_that_are_killed_while_they_wait(self):
        """New workers replace killed ones."""
        at = [switch(6, 1, num_workers=2), switch(14, 0), switch(22, 1, num_workers=2)]
        for step in ("13", "18"):
            messages = self.same_with_one_killed("kills", step, at, "other")
            if step == "18":
                self.assertTrue(self.row(messages, "num_workers", 2)["may"])

    def test_the_program_s_own_that_are_killed_while_they_wait(self):
        at = [switch(6, 1, num_workers=2), switch(20, 0)]
        self.same_with_one_killed("kills-oldest", "16", at, "own")

    def test_that_hang(self):
        def wait_briefly():
            from steptune_hook.pytorch.live import pools

            pools._LONGEST_BATCH_S = 0.5

        self.assertIn("timed out", self.taken_back("hangs", 2, prepare=wait_briefly))

    def test_none_where_the_data_set_needs_one(self):
        self.assertIn("in workers alone", self.taken_back("needs", 0))

    def test_none_where_the_data_set_would_draw_the_program_s_random_numbers(self):
        self.assertIn("draws random numbers", self.taken_back("draws", 0))

    def test_none_where_it_draws_at_the_begin_of_a_pass(self):
        """Returning workers draw the same numbers as without the hook."""
        for step in (30, 31):
            with self.subTest(step):
                self.same("own_workers", "jitters", switches=[switch(step, 1, num_workers=0), switch(40, 0)])

    def test_none_at_the_begin_of_a_pass(self):
        self.same("own_workers", "has", switches=[switch(6, 1, num_workers=0)])

    def test_of_a_data_set_that_the_program_changes_meanwhile(self):
        self.assertIn("changes its data set", self.taken_back("changed", 2))

    def test_of_a_loader_that_has_all_attributes_of_its_data_set(self):
        messages = self.same("own_workers", "delegates", switches=[switch(6, 1, num_workers=2), switch(40, 0)])
        self.assertTrue(self.row(messages, "num_workers", 2)["may"])

    def test_that_cannot_be_started_at_the_next_pass(self):
        def start_none_from_then_on():
            from torch.utils.data import DataLoader

            original = DataLoader._get_iterator

            def get_iterator(loader):
                if loader.num_workers and get_iterator.starts == 0:
                    raise OSError("no more processes")
                get_iterator.starts -= bool(loader.num_workers)
                return original(loader)

            get_iterator.starts = 1
            DataLoader._get_iterator = get_iterator

        switches = [switch(6, 1, num_workers=1)]
        messages = self.same("own_workers", "plain", switches=switches, prepare=start_none_from_then_on)
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "num_workers"]
        self.assertIn("no more processes", rows[-1]["why"])

    def test_of_another_loader_whose_data_set_has_opened_a_file(self):
        messages = self.same("left_pass", "files", switches=[switch(100, 1, num_workers=1)])
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "num_workers"]
        self.assertIn("h5py.File", rows[-1]["why"])

    def test_of_a_sampler_that_draws_more_than_the_order(self):
        switches = [switch(6, 1, num_workers=2)]
        for way in ("early", "early replacement", "early evaluated"):
            with self.subTest(way):
                messages = self.same("left_pass", *way.split(), switches=switches)
                self.assertTrue(self.row(messages, "num_workers", 2)["may"])
        messages = self.same("left_pass", "default", switches=switches)
        self.assertIn("draws from the sampler's generator", self.row(messages, "num_workers", 2)["why"])
        self.same("left_pass", "early", "workers", switches=[switch(6, 1, num_workers=0)])

    def test_while_another_pass_is_left_unread(self):
        messages = self.same("left_pass", switches=[switch(30, 1, num_workers=1)])
        reported = [m["warm_up"] for m in messages if "step" in m and m["configuration"] == 1]
        self.assertFalse(reported[-1])


class OddPrograms(Live):
    def test_more_open_files_than_select_takes(self):
        self.same("many_files", "opens", switches=[switch(5, 1, num_workers=1), switch(9, 0)])

    def test_all_descriptors_closed_in_mid_training(self):
        ran, messages = self.ran("many_files", "closes", switches=[switch(5, 1, set_to_none=True), switch(15, 0)])
        said = [line for line in ran.lines if "the tuner is gone" in line]
        self.assertEqual(len(said), 1, ran.output)
        self.assertEqual([line for line in ran.lines if line not in said], run("many_files", "closes").lines)
        self.assertLessEqual(max(m["step"] for m in messages if "step" in m), 7)


class OwnFault(Live):
    def failing_after(self, steps, *switches):
        def prepare():
            import atexit

            import torch
            from steptune_hook.pytorch.live import Live

            original = Live._send_step

            def send_step(live, progress, due):
                if progress.steps > steps:
                    raise KeyError("of the hook")
                return original(live, progress, due)

            Live._send_step = send_step
            atexit.register(lambda: print("threads", torch.get_num_threads()))

        return self.ran("mnist", switches=switches, prepare=prepare)

    def test_the_program_s_own_settings_come_back(self):
        ran, messages = self.failing_after(9, switch(5, 1, num_threads=3, num_workers=1))
        self.assertIn("threads 1", ran.lines)
        self.assertTrue([m for m in messages if m.get("hook", {}).get("event") == "disabled"])
        self.assertEqual(len(ran.lines), len(run("mnist").lines) + 1, ran.output)


class LastWords(unittest.TestCase):
    """Tests a tuner that ended before it had read all messages of the program."""

    def said(self, *then):
        sys.path.insert(0, HOOK)
        self.addCleanup(sys.path.remove, HOOK)
        from steptune_hook.pytorch.live.channel import Channel

        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            path = os.path.join(folder, "tuner")
            listener.bind(path)
            listener.listen(1)
            channel = Channel(path)
            connection, _ = listener.accept()
            channel.send({"step": 1})
            connection.send(json.dumps({"switch": {"last": True}}).encode())
            connection.close()
            for document in then:
                channel.send(document)
            messages = channel.received()
            self.assertFalse(channel.is_open)
            return messages

    def test_count(self):
        self.assertEqual(self.said(), [{"switch": {"last": True}}])

    def test_count_where_the_program_has_more_to_tell(self):
        self.assertEqual(self.said({"step": 2}), [{"switch": {"last": True}}])


class RanksTogether(Live):
    def test_switch_at_the_same_step(self):
        switches = [switch(5, 1, num_workers=1), switch(9, 0), switch(13, 2, num_workers=1, prefetch_factor=4)]

        def start_ranks(hooks):
            port = free_port()
            ranks = [
                start("own_process_group", hook=hook, environment=launch_environment(rank, 2, port))
                for rank, hook in enumerate(hooks)
            ]
            return [rank.wait() for rank in ranks]

        tuners = [Tuner(switches) for _ in range(2)]
        ranks = start_ranks([settings("live", channel=tuner.path) for tuner in tuners])
        untouched = start_ranks([None, None])
        reported = [tuner.messages() for tuner in tuners]
        for rank in range(2):
            self.assertEqual(ranks[rank].status, 0, ranks[rank].output)
            self.assertEqual(ranks[rank].lines, untouched[rank].lines)
            hello = reported[rank][0]["hello"]
            self.assertEqual((hello["rank"], hello["world_size"]), (rank, 2))
            configurations = {m["step"]: m["configuration"] for m in reported[rank] if "step" in m}
            for step, configuration in configurations.items():
                expected = 0 if step < 5 or 9 <= step < 13 else 1 if step < 9 else 2
                self.assertEqual(configuration, expected, (rank, step))
            # The last step before a switch is always reported.
            self.assertLessEqual({4, 8, 12}, set(configurations))


class Refusals(Live):
    def refused(self, name, knob, value, *arguments, prepare=None, **knobs):
        switches = [switch(4, 1, **dict(knobs, **{knob: value}))]
        messages = self.same(name, *arguments, switches=switches, prepare=prepare)
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == knob]
        self.assertFalse(rows[-1]["may"], rows[-1])
        return rows[-1]["why"]

    def test_iterable_data_set(self):
        self.assertIn("iterable", self.refused("iterable", "num_workers", 2))

    def test_data_sets_that_hold_or_open_files(self):
        for kind in ("h5py", "late"):
            self.assertIn("h5py.File", self.refused("open_files", "num_workers", 2, kind))

    def test_own_sampler(self):
        self.assertIn("order of samples", self.refused("batch_sampler", "num_workers", 2))

    def test_spawned_workers(self):
        self.assertIn("spawn", self.refused("spawn", "num_workers", 1))

    def test_workers_that_cannot_load(self):
        """The long run continues from the batch that did not come."""
        self.assertIn("no such device", self.refused("fails_in_workers", "num_workers", 1, "items"))
        self.assertIn("unsupported operand", self.refused("fails_in_workers", "num_workers", 2, "begin"))
        switches = [switch(3, 1, num_workers=1), switch(5, 2, num_workers=2), switch(9, 0)]
        for way in ("items", "begin", "all"):
            self.same("fails_in_workers", way, switches=switches)

    def test_what_is_set_at_the_start(self):
        why = self.refused("mnist", "optimizer_implementation", "foreach")
        self.assertIn("between two steps", why)

    def test_a_pass_that_began_before_its_loader_was_known_to_train(self):
        why = self.refused("without_gradients", "num_workers", 1, "generator")
        self.assertIn("before its loader was known", why)
        switches = [switch(4, 1, num_workers=1), switch(9, 0), switch(14, 2, num_workers=1)]
        messages = self.same("without_gradients", "generator", switches=switches)
        rows = [m["hook"] for m in messages if m.get("hook", {}).get("knob") == "num_workers"]
        self.assertEqual((rows[-1]["may"], rows[-1]["value"]), (True, 1))

    def test_buffers_that_outlast_a_block(self):
        why = self.refused("mnist", "num_workers", 8, prefetch_factor=16)
        self.assertIn("last longer than a trial", why)

    def test_buffers_that_all_ranks_together_have_no_memory_for(self):
        def two_ranks_on_a_small_machine():
            from steptune_hook.pytorch.live import passes

            os.environ["LOCAL_WORLD_SIZE"] = "2"
            # Memory for twelve batches: two of one rank fit into a quarter of it.
            passes.free_bytes = lambda: 12 * 16 * (144 * 4 + 8)

        why = self.refused("mnist", "num_workers", 1, prepare=two_ranks_on_a_small_machine)
        self.assertIn("4 batches of 9344 bytes", why)


class GoneTuner(Live):
    def test_back_to_the_program_s_own(self):
        ran, _ = self.ran("mnist", "60", switches=[switch(5, 1, num_workers=1)], dies_after=9)
        said = [line for line in ran.lines if "the tuner is gone" in line]
        self.assertEqual(len(said), 1, ran.output)
        others = [line for line in ran.lines if line not in said]
        self.assertEqual(others, run("mnist", "60").lines)

    def test_one_that_hangs(self):
        ran, messages = self.ran("mnist", switches=[switch(4, 1, num_workers=1)], silence_s=1e-6)
        self.assertTrue(self.row(messages, "num_workers", 1)["may"])
        said = [line for line in ran.lines if re.search(r"the tuner has said nothing for \d+ s", line)]
        self.assertEqual(len(said), 1, ran.output)
        self.assertEqual([line for line in ran.lines if line not in said], run("mnist").lines)
        self.assertLess(max(m["step"] for m in messages if "step" in m), 7)

    def test_one_that_need_not_speak(self):
        self.same("mnist", switches=[switch(4, 1, num_workers=1)], silence_s=1e6)

    def test_gone_before_the_step_of_its_last_word(self):
        ran, _ = self.ran("mnist", switches=[switch(12, 1, last=True, num_workers=1)], dies_after=6)
        self.assertEqual(ran.lines, run("mnist").lines)

    def test_never_there(self):
        ran = run("mnist", hook=settings("live", channel="/nonexistent/tuner"))
        self.assertEqual(len([line for line in ran.lines if "the tuner is gone" in line]), 1)

    def test_settings_that_it_leaves_out_and_settings_without_effect(self):
        ran, _ = self.ran("own_workers", "raises", switches=[switch(5, 1, last=True, num_workers=1)])
        said = [line for line in ran.lines if "num_workers=1 could not be set: RuntimeError: cannot be forked" in line]
        self.assertEqual(len(said), 1, ran.output)
        self.assertEqual([line for line in ran.lines if line not in said], run("own_workers", "raises").lines)

    def test_what_it_leaves_as_it_was(self):
        self.same("iterable", switches=[switch(5, 1, last=True, num_workers=0)])

    def test_nothing_is_told_after_its_last_switch(self):
        messages = self.same("mnist", switches=[switch(5, 1, last=True, num_workers=1)])
        self.assertLess(max(m["step"] for m in messages if "step" in m), 7)


if __name__ == "__main__":
    unittest.main()
