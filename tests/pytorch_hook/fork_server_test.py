# SPDX-License-Identifier: Apache-2.0
"""Tests trials that are forked from an interpreter which has imported the program's modules."""

import array
import ctypes
import importlib.machinery
import json
import os
import socket
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import harness

sys.path.append(harness.HOOK)
from steptune_hook import imports  # noqa: E402

_SUBREAPER = 36  # prctl(2)
_LONGEST_LINE = 16 << 10  # the tuner reads lines up to this length


class Server:
    """The tuner's side of the connection."""

    def __init__(self, command, path=(), modules=(), environment=()):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)
        self.command = [sys.executable] + command
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        requested = {"v": 1, "argv": self.command, "modules": list(modules)}
        variables = dict(os.environ, STEPTUNE_FORK_SERVER=json.dumps(requested), **dict(environment))
        variables.pop("STEPTUNE_PYTHON", None)
        variables["PYTHONPATH"] = os.pathsep.join([harness.HOOK, harness.REPORTER] + list(path))
        self.process = subprocess.Popen(
            self.command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables
        )
        theirs.close()
        self.first = self.receive()

    def receive(self):
        return json.loads(self.line.recv(1 << 20) or b"null")

    def ask(self, arguments, output, hook=None, command=None):
        variables = {"STEPTUNE_TRIAL": "7.1"}
        if hook is not None:
            variables["STEPTUNE_PYTHON"] = hook
        request = {"argv": (command or self.command) + list(arguments), "environment": variables}
        descriptors = array.array("i", [output.fileno()])
        self.line.sendmsg(
            [json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)]
        )
        return self.receive()

    def run(self, arguments, hook=None):
        with tempfile.TemporaryFile() as output:
            pid = self.ask(arguments, output, hook)["forked"]["pid"]
            _, status = os.waitpid(pid, 0)  # it is a child of this process
            output.seek(0)
            return harness.Ran(output.read().decode(), os.WEXITSTATUS(status))

    def close(self):
        self.line.close()
        return self.process.communicate(timeout=60)[0].decode()


class ForkServer(unittest.TestCase):
    def test_a_forked_trial_is_the_fresh_one(self):
        command = [harness.program("mnist")]
        hook = harness.settings(knobs={"set_to_none": True})
        fresh = harness.run_fresh(command + ["40"], hook)
        server = Server(command)
        self.assertEqual(server.first["ready"]["pid"], server.process.pid)
        forked = [server.run(["40"], hook) for _ in range(2)]
        untouched = server.run(["40"])
        self.assertEqual(server.close(), "")
        self.assertEqual(server.process.returncode, 0)
        self.assertIn("numpy", fresh.event("imports")["modules"])
        for ran in forked:
            self.assertEqual(ran.status, 0, ran.output)
            self.assertEqual(ran.lines, fresh.lines)
            self.assertEqual(ran.event("losses"), fresh.event("losses"))
            self.assertEqual(ran.steps[-1]["step"], fresh.steps[-1]["step"])
        self.assertEqual(untouched.lines, fresh.lines)
        self.assertEqual(untouched.events, [])

    def test_the_process_is_as_fresh_ones_are(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tell.py")
            with open(path, "w") as program:
                program.write(
                    "import os, sys\n"
                    "import beside\n"
                    "import random, numpy\n"
                    "print(__name__, __file__ == sys.argv[0], sys.argv[1:], sys.path[0])\n"
                    "print(os.getpgid(0) == os.getpid(), os.readlink('/proc/self/fd/0'))\n"
                    "print(sorted(os.listdir('/proc/self/fd'))[:-1])\n"
                    "print(os.environ['STEPTUNE_TRIAL'], 'STEPTUNE_FORK_SERVER' in os.environ)\n"
                    "print(os.environ.get('STEPTUNE_PYTHON'), sys.orig_argv[1:], len(sys.stdin.read()))\n"
                    "import multiprocessing.spawn\n"
                    "print(multiprocessing.spawn.get_preparation_data('x').get('init_main_from_path'))\n"
                    "print(random.random(), numpy.random.rand())\n"
                )
            with open(os.path.join(folder, "beside.py"), "w"):
                pass
            server = Server([path, "first"], modules=["numpy"])
            server.command.pop()
            first, second = (server.run([word, "--x=1"]) for word in ("a", "b c"))
            server.close()
        self.assertEqual(first.status, 0, first.output)
        self.assertEqual(first.lines[0], "__main__ True ['a', '--x=1'] " + folder)
        self.assertEqual(second.lines[0], "__main__ True ['b c', '--x=1'] " + folder)
        self.assertEqual(first.lines[1:4], ["True /dev/null", "['0', '1', '2']", "7.1 False"])
        self.assertEqual(first.lines[4], "None ['%s', 'a', '--x=1'] 0" % path)
        self.assertEqual(first.lines[5], path)
        mine, other = first.lines[6].split(), second.lines[6].split()
        self.assertNotEqual(mine[0], other[0])
        self.assertNotEqual(mine[1], other[1])

    def test_of_many_modules_the_deepest_are_left_out(self):
        packages = ["package%d" % i for i in range(300)]
        many = [name for p in packages for name in (p, p + ".part", p + ".part.with.a.long.name")]
        names = imports.fitting(many)
        self.assertLess(len(json.dumps({"v": 1, "hook": {"event": "imports", "modules": names}})), _LONGEST_LINE)
        self.assertEqual(names, [name for name in many if name in set(names)])
        self.assertLessEqual(set(packages), set(names))
        self.assertLess(len(names), len(many))
        self.assertEqual(imports.fitting(packages), packages)

    def test_the_reporter_is_not_imported_before_the_program(self):
        installed = {}
        for name in ("steptune", "steptune._reporter", "numeric"):
            installed[name] = types.ModuleType(name)
            origin = "/usr/lib/python3/site-packages/%s.py" % name
            installed[name].__spec__ = importlib.machinery.ModuleSpec(name, None, origin=origin)
        with unittest.mock.patch.dict(sys.modules, installed, clear=True):
            names = imports.installed_modules()
        self.assertEqual(names, ["numeric"])

    def test_another_program_is_refused(self):
        server = Server([harness.program("mnist")])
        with tempfile.TemporaryFile() as output:
            answer = server.ask([], output, command=[sys.executable, harness.program("accumulation")])
        self.assertIn("more than the program's arguments", answer["refused"])
        server.close()

    def test_a_file_beside_the_program_that_hides_a_module_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            for name in (path, os.path.join(folder, "queue.py")):
                with open(name, "w") as program:
                    program.write("print('runs')\n")
            server = Server([path])
            self.assertIn("queue beside the program", server.first["refused"])
            self.assertEqual(server.close(), "")
            self.assertEqual(server.process.returncode, 0)

    def test_imports_that_initialise_cuda_are_refused(self):
        """A module of the program initialises CUDA, as `torch.cuda.set_device(0)` does on a machine with a GPU."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "placed_on_a_gpu.py"), "w") as module:
                module.write("import torch\ntorch.cuda._initialized = True\n")
            server = Server([harness.program("mnist")], path=[folder], modules=["placed_on_a_gpu"])
            self.assertIn("importing initialises CUDA", server.first["refused"])
            self.assertEqual(server.close(), "")
            self.assertEqual(server.process.returncode, 0)

    def test_imports_that_start_a_thread_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "with_a_thread.py"), "w") as module:
                module.write("import threading, time\n")
                module.write("threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n")
            server = Server([harness.program("mnist")], path=[folder], modules=["with_a_thread"])
            self.assertIn("importing starts a thread", server.first["refused"])
            self.assertEqual(server.close(), "")

    def test_a_server_whose_tuner_has_gone_ends_without_running_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w") as program:
                program.write("print('runs')\n")
            server = Server([path], modules=["no_such_module"])
            self.assertIn("ready", server.first)
            self.assertEqual(server.close(), "")


if __name__ == "__main__":
    unittest.main()
