# SPDX-License-Identifier: Apache-2.0
"""Measures the time that the PyTorch hook adds to a step, to a look at gradients, and to the start of a program.

    OMP_NUM_THREADS=1 python3 benchmarks/pytorch_hook/overhead.py

Takes the minimum of many short blocks, since other load on the machine only adds time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOK = os.path.join(ROOT, "trial_runner", "hooks", "python")
ROUNDS = 4
BLOCKS = 150
STEPS = 3
STARTS = 10
# In the second case the outermost module contains 40 modules of its own class. The hook handles each of their calls.
CASES = {"1 module": 0, "121 modules": 40}
LOOKS = {"80 gradients, 2 880 numbers": 8, "80 gradients, 10 million numbers": 500}


def train(case):
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    sys.path.append(HOOK)
    from steptune_hook.pytorch import hook

    os.environ["STEPTUNE_PYTHON"] = json.dumps({"v": 1, "mode": "report"})
    layers = [nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(CASES[case])]
    model = nn.Sequential(*layers, nn.Linear(8, 1)) if layers else nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(torch.randn(4 * 200, 8)), batch_size=4, shuffle=True)

    def batches():
        while True:
            yield from loader

    source = batches()

    def block():
        begin_s = time.perf_counter()
        for _ in range(STEPS):
            (x,) = next(source)
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
        return (time.perf_counter() - begin_s) / STEPS

    without_s = hooked_s = float("inf")
    for _ in range(ROUNDS):
        without_s = min(without_s, *(block() for _ in range(BLOCKS)))
        hook.install()
        hook.installed.optimizers.adopt(optimizer)
        hooked_s = min(hooked_s, *(block() for _ in range(BLOCKS)))
        hook.installed.patches.restore_all()
        hook.installed.active = False
    print("least", without_s, hooked_s)


def look(case):
    """Measures how long the hook takes to compute norms of gradients in one step that accumulates gradients."""
    import torch
    from torch import nn

    sys.path.append(HOOK)
    from steptune_hook.pytorch.gradients import Gradients

    width = LOOKS[case]
    model = nn.Sequential(*(nn.Linear(width, width) for _ in range(40)))
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    gradients = Gradients(list(model.parameters()), None)
    least_s = float("inf")
    for _ in range(100):
        begin_s = time.perf_counter()
        with torch.no_grad():
            for _ in range(3):  # before the first backward pass, after it, after the last one
                gradients.norm()
        least_s = min(least_s, time.perf_counter() - begin_s)
    print("least", 0.0, least_s)


def rank_look(case):
    """Measures how long the hook takes to compute norms of gradients in one step of a rank. Counts the time before,
    within and after the backward pass. One rank is enough, since the hook does the same work for each rank."""
    from types import SimpleNamespace

    import torch
    from torch import distributed, nn

    sys.path.append(HOOK)
    from steptune_hook.pytorch.gradients import Gradients
    from steptune_hook.pytorch.rank_gradients import RankGradients

    width = LOOKS[case]
    progress = SimpleNamespace(training_forwards=1, samples_in_step=lambda: 4)
    least_s = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        distributed.init_process_group("gloo", "file://%s/rendezvous" % folder, rank=0, world_size=1)
        model = nn.parallel.DistributedDataParallel(nn.Sequential(*(nn.Linear(width, width) for _ in range(40))))
        for _ in range(100):
            model.zero_grad(set_to_none=True)
            loss = model(torch.randn(4, width)).pow(2).mean()
            look = RankGradients(Gradients(list(model.parameters()), model))
            spent_s = -time.perf_counter()
            with torch.no_grad():
                assert look.begins()
            spent_s += time.perf_counter()
            loss.backward()
            spent_s -= time.perf_counter()
            look.release()
            with torch.no_grad():
                assert look.backward_ended(progress)
            spent_s += time.perf_counter()
            least_s = min(least_s, spent_s + look.spent_s)
        distributed.destroy_process_group()
    print("least", 0.0, least_s)


def install():
    """Measures the CPU seconds from the end of `import torch` to an installed hook."""
    import torch  # noqa: F401

    sys.path.append(HOOK)
    os.environ["STEPTUNE_PYTHON"] = json.dumps({"v": 1, "mode": "report"})
    begin_s = time.process_time()
    from steptune_hook.pytorch import hook

    hook.install()
    print("least", 0.0, time.process_time() - begin_s)


def python(arguments, hook, bytecode):
    dropped = ("STEPTUNE_PYTHON", "PYTHONDONTWRITEBYTECODE")
    environment = {k: v for k, v in os.environ.items() if k not in dropped}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    environment["OMP_NUM_THREADS"] = environment["OPENBLAS_NUM_THREADS"] = "1"
    if hook:
        environment["PYTHONPATH"] = HOOK
        environment["STEPTUNE_PYTHON"] = json.dumps({"v": 1, "mode": "report"})
    process = subprocess.Popen(
        [sys.executable] + arguments, env=environment, stdout=subprocess.PIPE, text=True
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError("%s failed" % arguments)
    return output, usage.ru_utime + usage.ru_stime


def least(arguments, bytecode):
    output, _ = python([__file__] + arguments, False, bytecode)
    line = next(line for line in output.splitlines() if line.startswith("least"))
    return [float(seconds) for seconds in line.split()[1:]]


def print_times(name, without_s, hooked_s, unit, scale):
    added = (hooked_s - without_s) * scale
    print("%-38s without %8.1f %s   the hook adds %6.1f" % (name, without_s * scale, unit, added))


def main():
    with tempfile.TemporaryDirectory() as bytecode:
        for case in CASES:
            print_times("step, " + case, *least(["--train", case], bytecode), "us", 1e6)
        for case in LOOKS:
            print_times("look, " + case, *least(["--look", case], bytecode), "us", 1e6)
            print_times("ranks, " + case, *least(["--rank-look", case], bytecode), "us", 1e6)
        starts = [
            [python(["-c", "pass"], hook, bytecode)[1] for hook in (False, True)]
            for _ in range(STARTS)
        ]
        print_times("start of Python", *map(min, zip(*starts)), "ms", 1e3)
        installs = [least(["--install"], bytecode) for _ in range(STARTS)]
        print_times("after import torch", *map(min, zip(*installs)), "ms", 1e3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(sys.argv[2])
    elif sys.argv[1:2] == ["--look"]:
        look(sys.argv[2])
    elif sys.argv[1:2] == ["--rank-look"]:
        rank_look(sys.argv[2])
    elif sys.argv[1:2] == ["--install"]:
        install()
    else:
        main()
