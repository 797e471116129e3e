# SPDX-License-Identifier: Apache-2.0
"""Tests ranks that train together a program which knows only one process."""

import concurrent.futures
import io
import os
import random
import sys
import tempfile
import time
import unittest

import torch

from harness import free_port, launch_environment, program, run, run_fresh, settings, start


def run_ranks(
    *arguments, name="one_process", mode="report", world_size=2, before_hook=None, prepare=None, **values
):
    """Returns the output of each rank, started as by torchrun."""
    port = free_port()
    how = dict(
        hook=settings(mode, interval_s=0, knobs=values), before_hook=before_hook, prepare=prepare
    )
    ranks = [
        start(name, *arguments, environment=launch_environment(rank, world_size, port), **how)
        for rank in range(world_size)
    ]
    return [rank.wait() for rank in ranks]


def run_fresh_ranks(*arguments, **values):
    """Returns the output of each rank, each in a new interpreter from start to end."""
    hook = settings(interval_s=0, knobs=values)
    port = free_port()

    def run_rank(rank):
        command = [program("one_process")] + list(arguments)
        return run_fresh(command, hook, environment=launch_environment(rank, 2, port))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(run_rank, range(2)))


def evaluated(ran):
    return [float(line.split()[1]) for line in ran.lines if line.startswith("evaluated")]


def evaluated_samples(ran):
    return [int(line.split()[2]) for line in ran.lines if line.startswith("evaluated")]


class Ranks(unittest.TestCase):
    def trains_alike(self, *arguments, delta=2e-4, before_hook=None, **values):
        """Checks that all ranks end with the same model as a single process."""
        alone = run("one_process", *arguments)
        ranks = run_ranks(*arguments, before_hook=before_hook, **values)
        for ran in ranks:
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["step"], 18)
            self.assertEqual(ran.steps[-1]["samples"], 136)
            self.assertEqual(evaluated_samples(ran), evaluated_samples(alone))
        self.assertTrue(evaluated(alone), alone.output)
        for name, value in values.items():
            self.assertEqual(ranks[0].knob(name).get("value"), value, ranks[0].knob(name))
        self.assertEqual(evaluated(ranks[0]), evaluated(ranks[1]))
        if "--unseeded" not in arguments:
            for loss, other in zip(evaluated(ranks[0]), evaluated(alone)):
                self.assertAlmostEqual(loss, other, delta=delta * other)
        return ranks

    def ends_with(self, why, *arguments, name="one_process", mode="report", **values):
        """Checks that each rank ends before training, with the reason."""
        for ran in run_ranks(*arguments, name=name, mode=mode, **values):
            self.assertNotEqual(ran.status, 0, ran.output)
            self.assertIn("steptune: distributed_strategy=" + values["distributed_strategy"], ran.output)
            self.assertIn(why, ran.output)
            self.assertEqual(ran.steps, [])


class Strategies(Ranks):
    def test_data_parallel(self):
        ranks = self.trains_alike(distributed_strategy="ddp")
        self.assertEqual(ranks[0].event("patched")["world_size"], 2)
        self.assertEqual(ranks[0].knob("distributed_strategy")["today"], "none")

    def test_as_torchrun_starts_it(self):
        for ran in run_fresh_ranks(distributed_strategy="ddp"):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)

    def test_three_ranks_and_batches_that_do_not_divide(self):
        for ran in run_ranks(distributed_strategy="ddp", world_size=3):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["step"], 18)
            self.assertEqual(ran.steps[-1]["samples"], 136)

    def test_processes_that_each_train_for_themselves_are_not_counted_together(self):
        for ran in run_ranks(distributed_strategy="none"):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)

    def test_with_other_knobs(self):
        self.trains_alike(
            distributed_strategy="ddp",
            ddp_bucket_cap_mb=3,
            ddp_static_graph=True,
            ddp_gradient_as_bucket_view=True,
            optimizer_implementation="foreach",
            num_workers=1,
        )

    def test_evaluations_are_whole_on_each_rank(self):
        self.trains_alike("--validate", distributed_strategy="ddp")
        self.trains_alike("--validate", distributed_strategy="ddp", num_workers=1)

    def test_modes_that_are_set_late_or_not_at_all(self):
        self.trains_alike("--mode-in-loop", distributed_strategy="ddp")
        self.trains_alike("--evaluation-mode", distributed_strategy="ddp")

    def test_a_forward_before_the_first_pass(self):
        self.trains_alike("--dry-run", distributed_strategy="ddp")

    def test_parameters_without_use(self):
        self.trains_alike("--unused", distributed_strategy="ddp")

    def test_parameters_that_some_ranks_use(self):
        ranks = run_ranks("--sometimes", "--batch", "2", "--sampler", distributed_strategy="ddp")
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertEqual(evaluated(ranks[0]), evaluated(ranks[1]))

    def test_parameters_that_are_trained_later(self):
        self.trains_alike("--unfreeze", distributed_strategy="ddp")

    def test_groups_of_parameters(self):
        self.trains_alike("--groups", distributed_strategy="ddp")

    def test_a_sampler_that_draws(self):
        ranks = run_ranks("--sampler", distributed_strategy="ddp", num_workers=1)
        self.assertIn("the sampler draws", ranks[0].knob("num_workers").get("why", ""))

    def test_running_statistics(self):
        """All ranks evaluate with the first rank's. In training, each rank normalises by its own part."""
        self.trains_alike("--norm", distributed_strategy="ddp", delta=0.5)

    def test_without_a_seed(self):
        self.trains_alike("--unseeded", distributed_strategy="ddp")

    def test_random_numbers_drawn_before_training(self):
        def as_a_new_process():
            torch.seed()
            random.seed()
            sys.modules["numpy"].random.seed()

        how = dict(name="one_process_unseeded", before_hook=as_a_new_process)
        ranks = run_ranks(distributed_strategy="ddp", **how)
        self.assertEqual(ranks[0].status, 0, ranks[0].output)
        self.assertEqual(ranks[0].lines, ranks[1].lines)
        again = run_ranks(distributed_strategy="ddp", **how)
        self.assertNotEqual(ranks[0].lines, again[0].lines)

    def test_one_process(self):
        alone = run("one_process")
        ran = run("one_process", hook=settings(interval_s=0, knobs={"distributed_strategy": "ddp"}))
        self.assertEqual(ran.lines, alone.lines)
        self.assertEqual(ran.knob("distributed_strategy")["why"], "one process")


class Checkpoints(Ranks):
    def test_are_whole_and_written_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            self.trains_alike(path, distributed_strategy="ddp")
            model, state = torch.load(path)
        self.assertEqual(sorted(model), ["first.bias", "first.weight", "last.bias", "last.weight"])
        self.assertEqual(sorted(state["state"]), [0, 1, 2, 3])
        self.assertEqual(state["state"][0]["exp_avg"].shape, (16, 6))

    def test_of_workers_are_their_own(self):
        for workers in (0, 1):
            with tempfile.TemporaryDirectory() as folder:
                self.trains_alike(folder, distributed_strategy="ddp", num_workers=workers)
                self.assertEqual(len(os.listdir(folder)), 68)

    def test_can_be_read_at_once_on_each_rank(self):
        def write_late():
            original = torch.save

            def save(states, file, **named):
                if not isinstance(file, io.BytesIO):
                    time.sleep(0.2)
                original(states, file, **named)

            torch.save = save

        for options in (["--reload"], ["--reload", "--open"], ["--reload", "--replace"]):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "checkpoint.pt")
                self.trains_alike(path, *options, before_hook=write_late, distributed_strategy="ddp")

    def impatient(self):
        from steptune_hook.pytorch.knobs import gathering

        gathering.PATIENCE_S = 2.0

    def test_that_one_rank_alone_writes_keep_nobody_waiting(self):
        for options in ([], ["--replace"]):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "checkpoint.pt")
                self.trains_alike(path, "--guarded", "--weights", *options, distributed_strategy="ddp")
                self.assertEqual(len(torch.load(path)), 1)

    def test_that_one_rank_alone_writes_into_an_open_file_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            first = self.first_gives_up(path, "--guarded", "--weights", "--open", distributed_strategy="ddp")
        self.assertIn("rank 0 came to torch.save of an open file and rank 1 did not", first.output)
        self.assertIn("give torch.save the path", first.event("gave_up")["why"])

    def first_gives_up(self, *arguments, **values):
        ranks = run_ranks(*arguments, prepare=self.impatient, **values)
        for ran in ranks:
            self.assertNotEqual(ran.status, 0, ran.output)
        self.assertEqual(ranks[0].event("gave_up")["knob"], "distributed_strategy")
        return ranks[0]


class UndividedPrograms(Ranks):
    def test_a_program_that_distributes_itself(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "ddp"})
        ran = run_fresh([program("ddp")], hook)
        self.assertEqual(ran.lines, run_fresh([program("ddp")]).lines)
        row = ran.knob("distributed_strategy")
        self.assertEqual((row["today"], row["why"]), ("ddp", "the program distributes itself"))

    def test_a_program_with_a_process_group_of_its_own(self):
        for requested in ({}, {"distributed_strategy": "ddp"}):
            ranks = run_ranks(name="own_process_group", **requested)
            self.assertEqual(ranks[0].status, 0, ranks[0].output)
            self.assertEqual(ranks[0].knob("distributed_strategy")["why"], "the program distributes itself")
            self.assertEqual(ranks[0].steps[-1]["samples"], 64)

    def test_a_program_that_cannot_be_divided(self):
        for name, why in (
            ("gan", "of them outside Sequential"),
            ("lbfgs", "LBFGS decides by the loss"),
            ("accumulation", "come from no DataLoader"),
            ("iterable", "no batches of indices to divide"),
        ):
            for mode in ("report", "apply"):
                self.ends_with(why, name=name, mode=mode, distributed_strategy="ddp")

    def test_parameters_outside_the_module(self):
        self.ends_with("1 of them outside Net", "--outside", distributed_strategy="ddp")

    def test_a_call_of_the_modules_own(self):
        self.ends_with("Doubled has its own __call__", "--call", distributed_strategy="ddp")

    def test_a_fault_of_the_hook(self):
        def break_it():
            from steptune_hook.pytorch.progress import Progress

            def broken(*_):
                raise KeyError("fetched")

            Progress.fetched = broken

        self.ends_with("KeyError: 'fetched'", prepare=break_it, distributed_strategy="ddp")

    def test_parameters_that_later_steps_do_not_use(self):
        for values in ({}, {"ddp_static_graph": True}):
            for ran in run_ranks("--from-step-five", distributed_strategy="ddp", **values):
                self.assertNotEqual(ran.status, 0, ran.output)
                why = "used other parameters of Net than the first steps did"
                self.assertIn("steptune: distributed_strategy=ddp: a step " + why, ran.output)
                self.assertEqual(ran.event("gave_up")["value"], "ddp")

    def test_two_backwards_of_one_forward(self):
        self.ends_with("without a forward", "--twice", distributed_strategy="ddp")

    def test_an_optimizer_of_the_programs_own(self):
        self.trains_alike("--own-optimizer", distributed_strategy="ddp")

    def test_a_fault_of_the_hook_on_a_rank_that_does_not_print(self):
        def fail_on_the_second():
            from steptune_hook.pytorch.progress import Progress

            def broken(*_):
                raise KeyError("of the second")

            if os.environ["RANK"] == "1":
                Progress.backward_ended = broken

        for mode in ("report", "apply"):
            first, second = run_ranks(name="own_process_group", mode=mode, prepare=fail_on_the_second)
            self.assertEqual((first.status, second.status), (0, 0), first.output + second.output)
            said = second.output if mode == "apply" else second.event("disabled")["why"]
            self.assertIn("of the second", said)


class Launchers(Ranks):
    def mpirun(self, rank, folder, local_size=2):
        return {
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(local_size),
            "PMIX_SERVER_TMPDIR": folder,
        }

    def run_by_mpirun(self, **how):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "ddp"})
        with tempfile.TemporaryDirectory() as folder:
            ranks = [
                start("one_process", hook=hook, environment=self.mpirun(rank, folder, **how)) for rank in range(2)
            ]
            return [rank.wait() for rank in ranks]

    def test_mpirun_on_one_machine(self):
        ranks = self.run_by_mpirun()
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertEqual(ranks[0].steps[-1]["samples"], 136)

    def test_mpirun_on_several_machines(self):
        for ran in self.run_by_mpirun(local_size=1):
            self.assertNotEqual(ran.status, 0)
            self.assertIn("steptune: distributed_strategy=ddp: mpirun", ran.output)

    def test_a_launcher_that_does_not_say_where_to_meet(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "ddp"})
        ran = run("one_process", hook=hook, environment={"RANK": "1", "WORLD_SIZE": "2"})
        self.assertNotEqual(ran.status, 0)
        self.assertIn("steptune: distributed_strategy=ddp: the launcher sets no MASTER_ADDR", ran.output)


class Devices(Ranks):
    """Tests with fakes in place of a GPU."""

    @staticmethod
    def one_gpu():
        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 1

        def set_device(number):
            if number > 0:
                raise RuntimeError("CUDA error: invalid device ordinal")

        torch.cuda.set_device = set_device

    def test_a_model_on_the_cpu_beside_a_gpu(self):
        for ran in run_ranks(distributed_strategy="ddp", before_hook=self.one_gpu):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)

    def test_more_processes_than_gpus(self):
        def model_on_gpu():
            from steptune_hook.pytorch.knobs.strategy import DistributedStrategyKnob

            DistributedStrategyKnob._uses_gpu = lambda knob: True

        ran = start(
            "one_process",
            hook=settings(knobs={"distributed_strategy": "ddp"}),
            environment=launch_environment(1, 2, free_port()),
            before_hook=self.one_gpu,
            prepare=model_on_gpu,
        ).wait()
        self.assertNotEqual(ran.status, 0)
        self.assertIn("distributed_strategy=ddp: there are more processes than GPUs (1)", ran.output)


if __name__ == "__main__":
    unittest.main()
