# SPDX-License-Identifier: Apache-2.0
"""Tests how the hook is installed, and that it does no harm if it cannot be."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from harness import HOOK, program, run, run_fresh, settings

sys.path.append(HOOK)

SHOW_PATH = "import sys; print(sys.path); print(getattr(sys.modules.get('sitecustomize'), '__file__', None))"


class Arrival(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.events = os.path.join(self.folder, "events")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def reported(self):
        if not os.path.exists(self.events):
            return []
        with open(self.events) as file:
            return [json.loads(line) for line in file]

    def test_a_trial_from_the_environment_alone(self):
        ran = run_fresh([program("mnist")], settings("report", events=self.events, interval_s=0))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.lines, run("mnist").lines)
        self.assertEqual(ran.steps[-1]["step"], 15)
        reported = self.reported()
        self.assertEqual(reported[0]["event"], "armed")
        self.assertIn("mnist.py", reported[0]["program"])
        # The file has the same events as the output.
        self.assertEqual(reported[1:], ran.events)
        self.assertEqual(reported[1]["event"], "patched")
        self.assertEqual(reported[1]["pid"], reported[0]["pid"])

    def test_the_oldest_python_reads_it(self):
        """PyTorch 1.13 and 2.0 run under Python 3.8, so the hook must parse there."""
        read = 0
        for folder, _, names in os.walk(HOOK):
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name)) as file:
                        ast.parse(file.read(), name, feature_version=(3, 8))
                    read += 1
        self.assertGreater(read, 20)

    def test_nothing_without_the_variable(self):
        self.check_paths(run_fresh(["-c", SHOW_PATH], path=[HOOK]), run_fresh(["-c", SHOW_PATH]))

    def check_paths(self, with_hook, untouched):
        path, customization = untouched.lines
        # The hook's file stays loaded if there is no other, as in most virtual environments.
        expected = os.path.join(HOOK, "sitecustomize.py") if customization == "None" else customization
        self.assertEqual(with_hook.lines, [path, expected])

    def test_the_program_sees_its_own_path(self):
        with_hook = run_fresh(["-c", SHOW_PATH], settings(), path=[self.folder])
        self.check_paths(with_hook, run_fresh(["-c", SHOW_PATH], path=[self.folder]))

    def test_no_output_of_what_does_not_train(self):
        ran = run_fresh(
            ["-c", "import torch; print(torch.nn.Linear(2, 1)(torch.ones(2)).shape)"],
            settings(events=self.events),
        )
        self.assertEqual(ran.output, "torch.Size([1])\n")
        self.assertEqual([event["event"] for event in self.reported()], ["armed"])

    def test_an_own_sitecustomize_runs(self):
        own = self.write("sitecustomize.py", "print('own', __name__, __file__)\n")
        ran = run_fresh(
            ["-c", "import sitecustomize; print(sitecustomize.__file__)"],
            settings(),
            path=[self.folder],
        )
        self.assertEqual(ran.output, "own sitecustomize %s\n%s\n" % (own, own))

    def test_an_own_sitecustomize_fails_as_it_does(self):
        self.write("sitecustomize.py", "raise ValueError('own fault')\n")
        ran = run_fresh(["-c", "print(1)"], settings(), path=[self.folder])
        self.assertEqual(ran.status, 0)
        self.assertIn("own fault", ran.output)
        self.write("sitecustomize.py", "raise SystemExit(3)\n")
        ends = [run_fresh(["-c", "print(1)"], hook, path=[self.folder]) for hook in (settings(), None)]
        self.assertEqual(ends[0].status, ends[1].status)
        self.assertNotEqual(ends[0].status, 0)

    def test_isolated_interpreters_are_not_reached(self):
        ran = run_fresh(["-I", program("settings")], settings(events=self.events))
        self.assertEqual((ran.status, ran.reports, self.reported()), (0, [], []))

    def test_virtual_environment(self):
        folder = os.path.join(self.folder, "venv")
        options = ["--without-pip", "--system-site-packages"]
        subprocess.run([sys.executable, "-m", "venv"] + options + [folder], check=True)
        python = os.path.join(folder, "bin", "python")
        show = ["-c", "import sys; print(sys.prefix); " + SHOW_PATH]
        hook = settings(interval_s=0, events=self.events)
        seen = [run_fresh(show, text, python=python).lines for text in (hook, None)]
        self.assertEqual(seen[0][:2], seen[1][:2])  # prefix and path
        self.assertEqual(seen[0][0], folder)
        ran = run_fresh([program("settings")], hook, python=python)
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.steps[-1]["step"], 5)
        self.assertIn("armed", [event["event"] for event in self.reported()])

    def test_events_that_cannot_be_written(self):
        """The folder does not exist, as in a container."""
        nowhere = os.path.join(self.folder, "not", "there")
        ran = run_fresh([program("settings")], settings(interval_s=0, events=nowhere))
        self.assertEqual((ran.status, ran.steps[-1]["step"]), (0, 5), ran.output)
        self.assertEqual(ran.lines, run("settings").lines)

    def test_a_program_whose_name_is_not_utf_8(self):
        name = os.path.join(self.folder, os.fsdecode(b"tr\xe9n.py"))
        shutil.copy(program("settings"), name)
        ran = run_fresh([name], settings(interval_s=0, events=self.events))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.knob("num_threads")["value"], 1)
        with open(self.events) as file:
            for text in (ran.output, file.read()):
                self.assertIn("tr?n.py", text)
                self.assertNotIn("\\ud", text)

    def test_invalid_settings_switch_the_hook_off(self):
        for text in ("{", '{"v":1,"mode":"race"}'):
            ran = run_fresh([program("settings")], text)
            self.assertEqual(ran.status, 0)
            self.assertEqual(ran.reports + ran.events, [])
            self.assertIn("steptune: the hook is off", ran.output)

    def test_invalid_settings_switch_the_hook_off_for_other_frameworks(self):
        for module in ("xgboost", "keras"):
            self.write(module + ".py", "answer = 42\n")
            script = self.write("program.py", "import %s\nprint(%s.answer)\n" % (module, module))
            ran = run_fresh([script], '{"v":1,"mode":"race"}')
            self.assertEqual((ran.status, ran.lines[-1]), (0, "42"), ran.output)
            self.assertIn("steptune: the hook is off", ran.output)

    def test_another_torch(self):
        """A module named torch is something else, or cannot be imported."""
        self.write("torch.py", "answer = 42\n")
        script = self.write("program.py", "import torch\nprint(torch.answer)\n")
        ran = run_fresh([script], settings())
        self.assertEqual((ran.status, ran.lines[-1]), (0, "42"))
        self.write("torch.py", "raise OSError('libcudart is missing')\n")
        ran = run_fresh([script], settings())
        self.assertIn("OSError: libcudart is missing", ran.output)
        self.assertNotIn("steptune:", ran.output)

    def test_each_rank_tells_its_steps_where_the_tuner_listens_to_all(self):
        ran = run_fresh([program("ddp")], settings(interval_s=0), environment={"STEPTUNE_ALL_RANKS": "1"})
        reported = {rank: [r for r in ran.steps if r["global_rank"] == rank] for rank in (0, 1)}
        self.assertEqual([len(steps) for steps in reported.values()], [8, 8])
        # 4 samples on each of 2 ranks: each rank reports the samples of all.
        self.assertEqual({steps[-1]["samples"] for steps in reported.values()}, {64})
        self.assertGreater(reported[1][-1]["parts"]["data"], 0)

    def test_spawned_ranks(self):
        ran = run_fresh([program("ddp")], settings(interval_s=0, knobs={"ddp_static_graph": True}))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual([report["step"] for report in ran.steps], list(range(1, 9)))
        self.assertNotIn("global_rank", ran.steps[0])
        self.assertEqual(ran.steps[-1]["samples"], 64, "of both ranks")
        self.assertIsNone(ran.event("separate"))
        self.assertEqual(ran.event("patched")["world_size"], 2)
        row = ran.knob("ddp_static_graph")
        self.assertEqual((row["today"], row["value"], row["may"]), (False, True, True))
        self.assertEqual(ran.lines, run_fresh([program("ddp")]).lines)
        row = run_fresh([program("ddp"), "none"], settings(interval_s=0)).knob("ddp_gradient_as_bucket_view")
        self.assertEqual((row["today"], row["value"], row["may"]), (False, False, True))

    def test_a_rank_that_ends_after_the_first_has_ended_tells_nothing(self):
        ran = run_fresh([program("ddp"), "outlives"], settings(interval_s=1000))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual([report["step"] for report in ran.steps], [1, 8], ran.output)

    def test_a_program_that_asks_for_torch_before_it_imports_it(self):
        ran = run_fresh([program("unusual")], settings(interval_s=0))
        self.assertEqual(ran.status, 0, ran.output)
        self.assertEqual(ran.steps[-1]["step"], 6)
        self.assertEqual(ran.lines, run_fresh([program("unusual")]).lines)

    def test_processes_without_ranks(self):
        ran = run_fresh([program("hogwild")], settings(interval_s=0))
        self.assertEqual(ran.lines, ["done"])
        self.assertEqual([report["step"] for report in ran.steps], [1, 2, 3, 4, 5], ran.output)
        reported = [event["why"] for event in ran.events if event["event"] == "separate"]
        self.assertEqual(len(reported), 1, ran.output)
        self.assertIn("several processes train without ranks", reported[0])

    def test_the_last_step_of_a_process_that_is_forked(self):
        ran = run_fresh([program("hogwild")], settings(interval_s=1000))
        self.assertEqual([report["step"] for report in ran.steps], [1, 5], ran.output)

    def test_ranks_are_those_of_what_communicates_or_of_the_launcher(self):
        from steptune_hook import ranks

        def reported(modules=(), **environment):
            launched = {name: "" for name in (*ranks._RANKS, *ranks._WORLD_SIZES)}
            with mock.patch.dict(os.environ, dict(launched, **environment)), mock.patch.dict(sys.modules, modules):
                return ranks.rank_and_world_size(), ranks.together()

        self.assertEqual(reported(), ((0, 1), 1))
        for rank, size in zip(ranks._RANKS, ranks._WORLD_SIZES):
            self.assertEqual(reported(**{rank: "1", size: "2"}), ((1, 2), 1))
        horovod = mock.Mock(is_initialized=lambda: True, rank=lambda: 2, size=lambda: 3)
        self.assertEqual(reported({"horovod.torch": horovod}, RANK="1", WORLD_SIZE="2"), ((2, 3), 3))
        world = mock.Mock(Get_rank=lambda: 3, Get_size=lambda: 4)
        for is_finalized, expected in ((False, ((3, 4), 4)), (True, ((0, 1), 1))):
            mpi = mock.Mock(Is_initialized=lambda: True, Is_finalized=lambda: is_finalized, COMM_WORLD=world)
            self.assertEqual(reported({"mpi4py.MPI": mpi}), expected)
        for client, expected in ((object(), ((1, 2), 2)), (None, ((0, 1), 1))):
            state = mock.Mock(client=client, process_id=1, num_processes=2)
            self.assertEqual(reported({"jax._src.distributed": mock.Mock(global_state=state)}), expected)

    def test_a_fault_of_the_hook_ends_the_hook_alone(self):
        untouched = run("mnist").lines
        for method in ("fetched", "trains", "evaluates", "evaluated", "backward_ended", "saves"):

            def break_it(method=method):
                from steptune_hook.pytorch.progress import Progress

                def broken(*_):
                    raise KeyError(method)

                setattr(Progress, method, broken)

            ran = run("mnist", hook=settings("report", interval_s=0), prepare=break_it)
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.lines, untouched)
            self.assertEqual(ran.event("disabled")["why"], "KeyError: '%s'" % method)

    def test_output_that_nobody_reads(self):
        def close():
            from steptune_hook import events

            def write_line(document):
                raise BrokenPipeError()

            events.write_line = write_line

        ran = run("mnist", hook=settings("report", interval_s=0), prepare=close)
        self.assertEqual((ran.status, ran.events), (0, []))
        self.assertEqual(ran.lines, run("mnist").lines)

    def test_nothing_is_told_after_a_fault(self):
        def fail():
            from steptune_hook.pytorch import hook

            hook.installed.failed(RuntimeError("enough"))

        ran = run("mnist", hook=settings(), prepare=fail)
        self.assertEqual(ran.lines, run("mnist").lines)
        self.assertEqual([event["event"] for event in ran.events], ["disabled"])


if __name__ == "__main__":
    unittest.main()
