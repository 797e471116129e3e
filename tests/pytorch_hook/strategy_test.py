# SPDX-License-Identifier: Apache-2.0
"""Ranks train a program together that knows of one process only."""

import concurrent.futures
import inspect
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
    """What each rank printed, as torchrun starts them."""
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
    """The same, each from a new interpreter to its end."""
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
        """All ranks end up with the model that one process ends up with."""
        alone = run("one_process", *arguments)
        ranks = run_ranks(*arguments, before_hook=before_hook, **values)
        for ran in ranks:
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["step"], 18)
            self.assertEqual(ran.steps[-1]["samples"], 136)
            self.assertEqual(evaluated_samples(ran), evaluated_samples(alone))
        for name, value in values.items():
            self.assertEqual(ranks[0].knob(name).get("value"), value, ranks[0].knob(name))
        self.assertEqual(evaluated(ranks[0]), evaluated(ranks[1]))
        if "--unseeded" not in arguments:
            for loss, other in zip(evaluated(ranks[0]), evaluated(alone)):
                self.assertAlmostEqual(loss, other, delta=delta * other)
        return ranks

    def ends_with(self, why, *arguments, name="one_process", mode="report", **values):
        """Each rank ends before it has trained, with the reason."""
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
        ranks = run_fresh_ranks(distributed_strategy="zero")
        for ran in ranks:
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)
        self.assertEqual(ranks[0].event("program")["optimizers"], ["ZeroRedundancyOptimizer"])

    def test_optimizer_state_in_pieces(self):
        ranks = self.trains_alike("--states", distributed_strategy="zero")
        self.assertEqual(ranks[0].event("program")["optimizers"], ["ZeroRedundancyOptimizer"])
        for ran in ranks:
            self.assertEqual([line for line in ran.lines if "states" in line], ["states 4"] * 2)

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
        self.trains_alike(distributed_strategy="zero", optimizer_implementation="foreach")

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
        self.trains_alike("--unfreeze", distributed_strategy="zero")

    def test_groups_of_parameters(self):
        self.trains_alike("--groups", distributed_strategy="zero")

    def test_a_sampler_that_draws(self):
        ranks = run_ranks("--sampler", distributed_strategy="ddp", num_workers=1)
        self.assertIn("the sampler draws", ranks[0].knob("num_workers").get("why", ""))

    def test_running_statistics(self):
        """Those of the first rank; each rank normalises by its own part."""
        self.trains_alike("--norm", distributed_strategy="ddp", delta=0.5)

    def test_without_a_seed(self):
        self.trains_alike("--unseeded", distributed_strategy="ddp")
        self.trains_alike("--unseeded", distributed_strategy="zero")

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
            self.trains_alike(path, distributed_strategy="zero")
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
                self.trains_alike(path, *options, before_hook=write_late, distributed_strategy="zero")


    def impatient(self):
        from steptune_pytorch.knobs import gathering

        gathering.PATIENCE_S = 2.0

    def test_that_one_rank_alone_writes_keep_nobody_waiting(self):
        for strategy in ("ddp", "zero"):
            for options in ([], ["--replace"]):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "checkpoint.pt")
                    how = ["--guarded", "--weights"] + options
                    self.trains_alike(path, *how, distributed_strategy=strategy)
                    self.assertEqual(len(torch.load(path)), 1)

    def test_that_one_rank_alone_writes_into_an_open_file_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            first = self.first_gives_up(path, "--guarded", "--weights", "--open", distributed_strategy="ddp")
        self.assertIn("rank 0 came to torch.save of an open file and rank 1 did not", first.output)
        self.assertIn("give torch.save the path", first.event("gave_up")["why"])

    def test_of_a_divided_state_are_refused_where_one_rank_alone_asks_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            first = self.first_gives_up(path, "--guarded", distributed_strategy="zero")
            self.trains_alike(path, "--guarded", distributed_strategy="ddp")
        self.assertIn("the state of the optimizer, which all ranks have a part of", first.event("gave_up")["why"])

    def first_gives_up(self, *arguments, **values):
        ranks = run_ranks(*arguments, prepare=self.impatient, **values)
        for ran in ranks:
            self.assertNotEqual(ran.status, 0, ran.output)
        self.assertEqual(ranks[0].event("gave_up")["knob"], "distributed_strategy")
        return ranks[0]


class UndividedPrograms(Ranks):
    def test_a_program_that_distributes_itself(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "zero"})
        ran = run_fresh([program("ddp")], hook)
        self.assertEqual(ran.lines, run_fresh([program("ddp")]).lines)
        row = ran.knob("distributed_strategy")
        self.assertEqual((row["today"], row["why"]), ("ddp", "the program distributes itself"))

    def test_a_program_with_a_process_group_of_its_own(self):
        for asked in ({}, {"distributed_strategy": "ddp"}):
            ranks = run_ranks(name="own_process_group", **asked)
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
        self.ends_with("Doubled has a __call__ of its own", "--call", distributed_strategy="ddp")

    def test_a_fault_of_the_hook(self):
        def break_it():
            from steptune_pytorch.progress import Progress

            def broken(*_):
                raise KeyError("fetched")

            Progress.fetched = broken

        self.ends_with("KeyError: 'fetched'", prepare=break_it, distributed_strategy="ddp")

    def test_parameters_that_later_steps_do_not_use(self):
        for values in ({}, {"ddp_static_graph": True}):
            for ran in run_ranks("--from-step-five", distributed_strategy="ddp", **values):
                self.assertNotEqual(ran.status, 0, ran.output)
                why = "did not use the same parameters of Net as the first steps did"
                self.assertIn("steptune: distributed_strategy=ddp: a step " + why, ran.output)
                self.assertEqual(ran.event("gave_up")["value"], "ddp")

    def test_two_backwards_of_one_forward(self):
        self.ends_with("without a forward", "--twice", distributed_strategy="ddp")

    def test_optimizers_that_are_not_sharded(self):
        for option, name in (("--own-optimizer", "OwnAdam"), ("--imported-optimizer", "Adam")):
            self.ends_with(name + " keeps its whole state", option, distributed_strategy="zero")
        self.trains_alike("--own-optimizer", distributed_strategy="ddp")

    def test_a_fault_of_the_hook_on_a_rank_that_does_not_print(self):
        def fail_on_the_second():
            from steptune_pytorch.progress import Progress

            def broken(*_):
                raise KeyError("of the second")

            if os.environ["RANK"] == "1":
                Progress.backward_ended = broken

        for mode in ("report", "apply"):
            first, second = run_ranks(name="own_process_group", mode=mode, prepare=fail_on_the_second)
            self.assertEqual((first.status, second.status), (0, 0), first.output + second.output)
            said = second.output if mode == "apply" else second.event("disabled")["why"]
            self.assertIn("of the second", said)


def can_shard():
    try:
        from torch.distributed.fsdp import FullyShardedDataParallel
    except Exception:  # Debian's PyTorch 1.13 under Python 3.11
        return False
    return "use_orig_params" in inspect.signature(FullyShardedDataParallel.__init__).parameters


class NoSharding(Ranks):
    @unittest.skipIf(can_shard(), "this PyTorch has what is refused here")
    def test_a_pytorch_without_what_it_takes(self):
        for mode in ("report", "apply"):
            why = "PyTorch %s cannot divide the parameters" % torch.__version__
            self.ends_with(why, mode=mode, distributed_strategy="fsdp")
        for ran in run_fresh_ranks(distributed_strategy="fsdp"):
            why = ran.event("gave_up")["why"]
            self.assertIn("use ddp or zero, or write FullyShardedDataParallel", why)
            self.assertEqual(ran.lines, ["steptune: distributed_strategy=fsdp: " + why])

    def test_of_other_strategies_its_arguments_do_not_apply(self):
        ranks = run_ranks(distributed_strategy="ddp", fsdp_sharding_strategy="no_shard")
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertEqual(ranks[0].knob("fsdp_sharding_strategy")["why"], "distributed_strategy is not fsdp")


@unittest.skipUnless(can_shard(), "FSDP for an optimizer that exists already takes PyTorch 2.0")
class Sharding(Ranks):
    """FullyShardedDataParallel itself, on CPUs, of PyTorch from 2.1 on."""

    def shards_alike(self, *arguments, **values):
        return self.trains_alike(*arguments, delta=1e-5, distributed_strategy="fsdp", **values)

    def is_refused(self, why, *arguments, **values):
        for ran in run_ranks(*arguments, distributed_strategy="fsdp", **values):
            self.assertNotEqual(ran.status, 0, ran.output)
            self.assertIn("steptune: distributed_strategy=fsdp", ran.output)
            self.assertIn(why, ran.output)

    def losses(self, ran):
        return [report["loss"] for report in ran.steps]

    def test_of_blocks_each_way(self):
        alone = run("one_process", "--blocks", hook=settings(interval_s=0))
        for sharding in ("full_shard", "shard_grad_op", "no_shard"):
            for prefetch in ("backward_pre", "backward_post", "none"):
                ranks = self.shards_alike(
                    "--blocks", fsdp_sharding_strategy=sharding, fsdp_backward_prefetch=prefetch
                )
                # The loss of a rank is that of its part of the batch: their mean is that of one process.
                for alone_loss, *losses in zip(*map(self.losses, [alone] + ranks)):
                    self.assertAlmostEqual(sum(losses) / len(losses), alone_loss, delta=1e-5 * alone_loss)

    def test_as_torchrun_starts_it(self):
        for ran in run_fresh_ranks("--blocks", distributed_strategy="fsdp"):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)

    def test_as_data_parallel(self):
        ranks, others = (run_ranks(name="mnist", distributed_strategy=strategy) for strategy in ("fsdp", "ddp"))
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        for ran, other in zip(ranks, others):
            self.assertEqual(len(ran.steps), 15)
            for loss, expected in zip(self.losses(ran), self.losses(other)):
                self.assertAlmostEqual(loss, expected, delta=1e-5 * expected)

    def test_three_ranks_and_parameters_that_some_use(self):
        for ran in run_ranks("--blocks", distributed_strategy="fsdp", world_size=3):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["samples"], 136)
        ranks = run_ranks("--sometimes", "--batch", "2", "--sampler", distributed_strategy="fsdp")
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertEqual(evaluated(ranks[0]), evaluated(ranks[1]))

    def test_divides_parameters_and_state(self):
        """Of all numbers each rank keeps half, apart from padding."""

        def look():
            step = torch.optim.Adam.step

            def counted(optimizer, *arguments, **named):
                returned = step(optimizer, *arguments, **named)
                parameters = [p for group in optimizer.param_groups for p in group["params"]]
                kept = sum(optimizer.state[p]["exp_avg"].numel() for p in parameters if p in optimizer.state)
                print("kept", sum(p.numel() for p in parameters), kept, flush=True)
                return returned

            torch.optim.Adam.step = counted

        whole = 6 * 16 + 16 + 16 * 3 + 3 + 3 * 2 * (16 * 16 + 16)
        for sharding, most in (("full_shard", whole // 2 + 8), ("no_shard", whole)):
            ranks = run_ranks(
                "--blocks", distributed_strategy="fsdp", fsdp_sharding_strategy=sharding, before_hook=look
            )
            numbers = [
                [int(n) for n in line.split()[1:]] for ran in ranks for line in ran.lines if line.startswith("kept")
            ]
            self.assertEqual(len(numbers), 36, ranks[0].output)
            for parameters, state in numbers:
                self.assertEqual(parameters, state)
                self.assertLessEqual(state, most)
                self.assertGreaterEqual(state, most - 16)

    def test_what_programs_do(self):
        for options in (
            ["--validate"],
            ["--mode-in-loop"],
            ["--evaluation-mode"],
            ["--dry-run", "--blocks"],
            ["--unused"],
            ["--groups"],
            ["--own-optimizer"],
            ["--imported-optimizer"],
            ["--adagrad", "--blocks"],
            ["--blocks", "--tied"],
            ["--blocks", "--frozen"],
            ["--unseeded"],
            ["--clip", "--blocks"],
        ):
            with self.subTest(options):
                self.shards_alike(*options)

    def test_clips_by_the_norm_of_all(self):
        alone = run("one_process", "--clip", "--blocks")
        norms = [float(line.split()[1]) for line in alone.lines if line.startswith("norm")]
        for sharding in ("full_shard", "no_shard"):
            for ran in self.shards_alike("--clip", "--blocks", fsdp_sharding_strategy=sharding):
                found = [float(line.split()[1]) for line in ran.lines if line.startswith("norm")]
                self.assertEqual(len(found), len(norms))
                for norm, expected in zip(found, norms):
                    self.assertAlmostEqual(norm, expected, delta=1e-4 * expected)

    def test_gradients_that_are_not_finite(self):
        for ran in run_ranks("--clip-strictly", distributed_strategy="fsdp"):
            self.assertNotEqual(ran.status, 0)
            self.assertIn("RuntimeError: the norm of the gradients of all ranks is ", ran.output)

    def test_running_statistics(self):
        self.trains_alike("--norm", "--validate", delta=0.5, distributed_strategy="fsdp")

    def test_with_other_knobs(self):
        self.shards_alike("--blocks", optimizer_implementation="foreach", num_workers=1)
        for name, value in (("precision", "bf16"), ("activation_checkpointing", True)):
            ranks = run_ranks("--blocks", distributed_strategy="fsdp", **{name: value})
            self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertEqual(ranks[0].knob("activation_checkpointing")["why"], "the model is sharded")

    def test_accumulated_gradients(self):
        alone = run("one_process", "--accumulate", "--blocks")
        for ran in run_ranks("--accumulate", "--blocks", distributed_strategy="fsdp"):
            self.assertEqual((ran.status, ran.steps[-1]["step"], ran.steps[-1]["samples"]), (0, 6, 136), ran.output)
            for loss, expected in zip(evaluated(ran), evaluated(alone)):
                self.assertAlmostEqual(loss, expected, delta=1e-5 * expected)

    def test_checkpoints_are_those_of_one_process(self):
        for options in ([], ["--blocks", "--tied"], ["--groups"], ["--adagrad"], ["--frozen-outside"]):
            for sharding in ("full_shard", "shard_grad_op", "no_shard"):
                with tempfile.TemporaryDirectory() as folder:
                    alone, path = (os.path.join(folder, name) for name in ("alone.pt", "checkpoint.pt"))
                    run("one_process", alone, *options)
                    self.shards_alike(path, *options, fsdp_sharding_strategy=sharding)
                    self.are_alike(torch.load(alone), torch.load(path))

    def are_alike(self, one, other):
        self.assertIs(type(one), type(other))
        if isinstance(one, dict):
            self.assertEqual(set(one), set(other))
            for key in one:
                self.are_alike(one[key], other[key])
        elif isinstance(one, (list, tuple)):
            self.assertEqual(len(one), len(other))
            for pair in zip(one, other):
                self.are_alike(*pair)
        elif torch.is_tensor(one):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
        else:
            self.assertEqual(one, other)

    def test_checkpoints_can_be_read_back(self):
        for options in ([], ["--blocks", "--tied"], ["--adagrad"]):
            with tempfile.TemporaryDirectory() as folder:
                self.shards_alike(os.path.join(folder, "checkpoint.pt"), "--reload", *options)

    def test_the_state_on_one_rank_alone(self):
        def impatient():
            from steptune_pytorch.knobs import gathering

            gathering.PATIENCE_S = 2.0

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            ranks = run_ranks(path, "--guarded", "--weights", prepare=impatient, distributed_strategy="fsdp")
        self.assertIn("the state of the model, which all ranks have a part of", ranks[0].event("gave_up")["why"])

    def test_images(self):
        ranks = run_ranks("--images", distributed_strategy="fsdp", channels_last=True)
        self.assertEqual([ran.status for ran in ranks], [0, 0], ranks[0].output)
        self.assertIn("FullyShardedDataParallel flattens parameters", ranks[0].knob("channels_last")["why"])
        for sharding in ("full_shard", "no_shard"):
            self.shards_alike("--images", fsdp_sharding_strategy=sharding)

    def test_what_would_see_pieces(self):
        for option, why in (
            ("--clip-part", "clips the gradients of a part of Net"),
            ("--copy", "copies or pickles Net itself: use its state_dict()"),
            ("--part", "calls state_dict of a part of Net, Linear"),
            ("--call-part", "calls a part of Net, Linear, by itself"),
            ("--unfreeze", "freezes or unfreezes parameters of Net after its first step"),
            ("--layer-wise", "LayerWise may need whole parameters"),
        ):
            with self.subTest(option):
                self.is_refused(why, option)

    def test_a_scaler(self):
        self.is_refused("a GradScaler would skip steps on those ranks alone", "--scaler")

    def test_programs_that_cannot_be_divided(self):
        for name, why in (
            ("gan", "of them outside Sequential"),
            ("lbfgs", "LBFGS may need whole parameters"),
            ("iterable", "no batches of indices to divide"),
        ):
            self.ends_with(why, name=name, distributed_strategy="fsdp")
        self.ends_with("1 of them outside Net", "--outside", distributed_strategy="fsdp")
        self.ends_with("no module was called before this backward", "--other", distributed_strategy="fsdp")
        self.ends_with("Net is compiled", distributed_strategy="fsdp", compile="default")
        self.ends_with("Doubled has a __call__ of its own", "--call", distributed_strategy="fsdp")

    def test_a_program_that_distributes_itself(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "fsdp"})
        ran = run_fresh([program("ddp")], hook)
        self.assertEqual(ran.lines, run_fresh([program("ddp")]).lines)
        self.assertEqual(ran.knob("distributed_strategy")["why"], "the program distributes itself")


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
    """With stubs in place of a GPU."""

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
            from steptune_pytorch.knobs.strategy import StrategyKnob

            StrategyKnob._uses_gpu = lambda knob, parameters: True

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
