# SPDX-License-Identifier: Apache-2.0
"""Does the same as report_probe.cpp, with the Python reporter."""
import os
import sys
import threading
import time

import steptune

mode = sys.argv[1]
nan = float("nan")
if mode == "fast":
    for i in range(1, 20001):
        steptune.part("data", 0.5)
        steptune.report(samples=8, loss=1.0 / i)
elif mode == "threads":

    def work():
        for _ in range(5000):
            steptune.report(samples=2, loss=0.5)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
elif mode == "odd":
    steptune.part("data", -1)
    steptune.part("data", nan)
    steptune.report(samples=nan, **{"loss": nan, "step": 7, 'a"b': 0.1})
elif mode == "repeated":
    steptune.report(samples=1, loss=0.5, accuracy=0.25, diverged=nan)
    steptune.report(samples=1, loss=0.5)
    steptune.flush()
elif mode == "names":
    for name in ["n" * 100, "n" * 101, ""] + ["m%d" % i for i in range(1000)]:
        steptune.part(name, 0.5)
        steptune.report(samples=1, **{name: 0.5})
elif mode == "phases":
    for i in range(1, 101):
        steptune.report(samples=8)
        if i % 20 == 0:
            with steptune.phase("evaluation"):
                time.sleep(0.010)
                steptune.begin_phase('check"point')
                time.sleep(0.005)
                steptune.end_phase('check"point')
    steptune.begin_phase("")
    steptune.end_phase("export")
    steptune.report(samples=8)
elif mode == "phase_threads":

    def work():
        for _ in range(50):
            steptune.report(samples=1)
            with steptune.phase("evaluation"):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
elif mode == "raises":
    steptune.report(samples=1)
    try:
        with steptune.phase("evaluation"):
            raise RuntimeError("the evaluation fails")
    except RuntimeError:
        steptune.report(samples=1)
elif mode == "fork":
    steptune.report(samples=1)
    steptune.report(samples=1)
    child = os.fork()
    if child == 0:
        steptune.report(samples=1)
        with steptune.phase("evaluation"):
            pass
        sys.exit(0)
    os.waitpid(child, 0)
elif mode == "forked":
    import multiprocessing

    def train():
        for _ in range(3):
            steptune.report(samples=1)

    process = multiprocessing.get_context("fork").Process(target=train)
    process.start()
    process.join()
elif mode == "tensor":

    class Tensor:
        """Looks like a tensor: has a graph until it is detached, and is read late."""

        read = 0

        def detach(self):
            return Detached()

    class Detached:
        def __float__(self):
            Tensor.read += 1
            return 0.25

    for _ in range(10000):
        steptune.report(samples=1, loss=Tensor(), text=object())
    steptune.flush()
    steptune.metrics(reads=Tensor.read)
elif mode == "changed":

    class Tensor:
        """Looks like a tensor: a detached one has the same memory, a clone has not."""

        def __init__(self, memory):
            self.memory = memory

        def detach(self):
            return Tensor(self.memory)

        def clone(self):
            return Tensor(list(self.memory))

        def __float__(self):
            return self.memory[0]

    class Array:
        """Looks like an array of NumPy."""

        def __init__(self, memory):
            self.memory = memory

        def copy(self):
            return Array(list(self.memory))

        def __float__(self):
            return self.memory[0]

    memory = [0.5]
    steptune.report(samples=1, loss=0.25)
    steptune.report(samples=1, loss=Tensor(memory), accuracy=Array(memory))
    memory[0] = 9.0
    steptune.flush()
elif mode == "own_stdout":

    class Tee:
        """A replacement of stdout that cannot be flushed, as in programs with their own log."""

        def __init__(self):
            self.stdout = sys.stdout

        def write(self, text):
            self.stdout.write(text)

    sys.stdout = Tee()
    steptune.report(samples=1, loss=0.5)
    steptune.report(samples=1, loss=0.25)
    steptune.flush()
    sys.stdout = sys.stdout.stdout
elif mode == "no_stdout":
    stdout, sys.stdout = sys.stdout, None
    for _ in range(3):
        steptune.report(samples=1)
    steptune.flush()
    sys.stdout = stdout
    print("trained to the end")
elif mode == "no_stderr":
    sys.stderr = None
    steptune.report(samples=1, loss="none", accuracy=0.5)
elif mode == "parts":
    with steptune.timed("data"):
        time.sleep(0.002)
    steptune.part("data", 0.5)
    steptune.part("compute", True)
    steptune.part("compute", "a second")
    steptune.report(samples=4, steps=2, loss="0.5")
