# SPDX-License-Identifier: Apache-2.0
"""Two ranks train a program together that knows of one process only."""

import concurrent.futures
import os
import socket
import tempfile
import unittest

import torch

from harness import program, run_fresh, settings


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run_ranks(*arguments, name="one_process", mode="report", world_size=2, **values):
    """What each rank printed, as torchrun starts them."""
    port = str(free_port())

    def run_rank(rank):
        environment = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(world_size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "STEPTUNE_ALL_RANKS": "1",
            "USE_LIBUV": "0",  # which Debian builds PyTorch 2 without
        }
        hook = settings(mode, interval_s=0, knobs=values)
        return run_fresh([program(name)] + list(arguments), hook, environment=environment)

    with concurrent.futures.ThreadPoolExecutor(world_size) as pool:
        return list(pool.map(run_rank, range(world_size)))


def evaluated(ran):
    return [float(line.split()[1]) for line in ran.lines if line.startswith("evaluated")]


class Strategies(unittest.TestCase):
    def trains_alike(self, *arguments, delta=2e-4, **values):
        """All ranks end up with the model that one process ends up with."""
        alone = run_fresh([program("one_process")] + list(arguments))
        ranks = run_ranks(*arguments, **values)
        for ran in ranks:
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["step"], 18)
            self.assertEqual(ran.steps[-1]["samples"], 136)
        for name, value in values.items():
            self.assertEqual(ranks[0].knob(name).get("value"), value, ranks[0].knob(name))
        self.assertEqual(evaluated(ranks[0]), evaluated(ranks[1]))
        if "--unseeded" not in arguments:
            for loss, other in zip(evaluated(ranks[0]), evaluated(alone)):
                self.assertAlmostEqual(loss, other, delta=delta * other)
        return ranks

    def test_data_parallel(self):
        ranks = self.trains_alike(distributed_strategy="ddp")
        self.assertEqual(ranks[0].event("patched")["world_size"], 2)
        self.assertEqual(ranks[0].knob("distributed_strategy")["today"], "none")

    def test_optimizer_state_in_pieces(self):
        ranks = self.trains_alike(distributed_strategy="zero")
        self.assertEqual(ranks[0].event("program")["optimizers"], ["ZeroRedundancyOptimizer"])

    def test_three_ranks_and_batches_that_do_not_divide(self):
        for ran in run_ranks(distributed_strategy="ddp", world_size=3):
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.steps[-1]["step"], 18)
            self.assertEqual(ran.steps[-1]["samples"], 2 * (8 * 9 + 6))

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

    def test_parameters_without_use(self):
        self.trains_alike("--unused", distributed_strategy="ddp")

    def test_running_statistics(self):
        """Those of the first rank; each rank normalises by its own part."""
        self.trains_alike("--norm", distributed_strategy="ddp", delta=0.5)

    def test_without_a_seed(self):
        self.trains_alike("--unseeded", distributed_strategy="ddp")
        self.trains_alike("--unseeded", distributed_strategy="zero")

    def test_checkpoints_are_whole_and_written_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            self.trains_alike(path, distributed_strategy="zero")
            model, state = torch.load(path)
        self.assertEqual(sorted(model), ["first.bias", "first.weight", "last.bias", "last.weight"])
        self.assertEqual(sorted(state["state"]), [0, 1, 2, 3])
        self.assertEqual(state["state"][0]["exp_avg"].shape, (16, 6))

    def test_one_process(self):
        alone = run_fresh([program("one_process")])
        ran = run_fresh([program("one_process")], settings(interval_s=0, knobs={"distributed_strategy": "ddp"}))
        self.assertEqual(ran.lines, alone.lines)
        self.assertEqual(ran.knob("distributed_strategy")["why"], "one process")

    def test_a_program_that_distributes_itself(self):
        hook = settings(interval_s=0, knobs={"distributed_strategy": "zero"})
        ran = run_fresh([program("ddp")], hook)
        self.assertEqual(ran.lines, run_fresh([program("ddp")]).lines)
        row = ran.knob("distributed_strategy")
        self.assertEqual((row["today"], row["why"]), ("ddp", "the program distributes itself"))

    def test_a_program_that_cannot_be_divided_ends_with_the_reason(self):
        for name, why in (
            ("gan", "two outermost modules"),
            ("lbfgs", "LBFGS decides by the loss"),
            ("accumulation", "come from no DataLoader"),
            ("iterable", "no batches of indices to divide"),
        ):
            for mode in ("report", "apply"):
                for ran in run_ranks(name=name, mode=mode, distributed_strategy="ddp"):
                    self.assertNotEqual(ran.status, 0, name)
                    self.assertIn("steptune: distributed_strategy=ddp: ", ran.output)
                    self.assertIn(why, ran.output)


if __name__ == "__main__":
    unittest.main()
