# SPDX-License-Identifier: Apache-2.0
"""An interpreter that stops before its program starts, imports the program's modules, and forks a process for each trial:
docs/internals/hooks-protocol.md, "A fork server".

It does no computation. GNU OpenMP threads that start before a fork would hang the child (pytorch/pytorch#17199).
"""

import array
import ctypes
import importlib
import json
import os
import socket
import sys
import threading
import time
import traceback

from steptune_hook import call_site

VARIABLE = "STEPTUNE_FORK_SERVER"
_LINE = 0  # standard input: the tuner's socket, one JSON object per packet
_LONGEST = 1 << 20
_CUDA_NOT_INITIALIZED = 3
_GO = b"g"


def serve(arm):
    """Returns only in forked children, which continue as this interpreter would have. `arm` installs the hook in them."""
    server = os.getpid()
    try:
        _serve()
        arm()
    except Exception:
        traceback.print_exc()
        if os.getpid() == server:
            os._exit(1)  # the server itself must not run its program


def _serve():
    started_s = time.monotonic()
    requested = json.loads(os.environ.pop(VARIABLE))
    line = socket.socket(fileno=os.dup(_LINE))
    line.set_inheritable(False)
    before = set(sys.modules)
    _import_all(["torch"] + requested["modules"])
    why = _why_not_to_fork(set(sys.modules) - before)
    ready = {"pid": os.getpid(), "seconds": time.monotonic() - started_s}
    _tell(line, {"refused": why} if why else {"ready": ready})
    if why:
        os._exit(0)
    head = _words_before_arguments(requested["argv"])
    while True:
        request, output = _receive(line)
        if request is None:  # the tuner has gone
            os._exit(0)
        if request["argv"][: len(head)] != head:
            _tell(line, {"refused": "the command differs in more than the program's arguments"})
            os.close(output)
            continue
        pid, gate = _fork(line, request, output, len(head))
        if pid == 0:
            return
        os.close(output)
        _tell(line, {"forked": {"pid": pid}})
        os.write(gate, _GO)
        os.close(gate)


def _import_all(names):
    for name in names:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit):
            # The program imports this module differently, or only tries to. It will see the error itself.
            continue


def _why_not_to_fork(imported):
    folder = call_site.program_folder()
    for name in sorted({module.partition(".")[0] for module in imported}):
        beside = os.path.join(folder, name)
        if os.path.isfile(beside + ".py") or os.path.isfile(os.path.join(beside, "__init__.py")):
            return "%s beside the program has the name of a module that it imports" % name
    torch = sys.modules.get("torch")
    if torch is None:
        return "torch cannot be imported"
    if torch.cuda.is_initialized() or _cuda_is_initialized():
        return "importing initialises CUDA, which does not outlive a fork"
    if threading.active_count() > 1:
        return "importing starts a thread, which does not outlive a fork"
    return None


def _cuda_is_initialized():
    """True if the CUDA driver is initialised. Libraries other than torch may do this. Asks the driver only if it is
    loaded."""
    with open("/proc/self/maps") as maps:
        if "libcuda.so" not in maps.read():
            return False
    count = ctypes.c_int()
    return ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count)) != _CUDA_NOT_INITIALIZED


def _words_before_arguments(argv):
    """Returns the words of the command before sys.argv[1:]: the interpreter with its options, and the program."""
    arguments = len(sys.argv) - 1
    same = arguments == 0 or argv[-arguments:] == sys.argv[1:]
    return argv[: len(argv) - arguments] if same else argv


def _tell(line, message):
    line.send(json.dumps(dict({"v": 1}, **message)).encode())


def _receive(line):
    """Returns a request and the descriptor for its child's output; (None, None) if the tuner has closed the socket."""
    descriptors = array.array("i")
    data, ancillary, _, _ = line.recvmsg(_LONGEST, socket.CMSG_SPACE(descriptors.itemsize))
    if not data:
        return None, None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: descriptors.itemsize])
    return json.loads(data), descriptors[0]


def _fork(line, request, output, head):
    """Forks a child through a process that exits at once. Returns the child's process number (0 in the child) and the
    gate at which the child waits. So no child runs before the tuner knows of it. The tuner becomes the child's parent,
    since it is the subreaper of all processes that it starts (prctl(2))."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    wait, gate = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            os.close(gate)
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                if os.read(wait, 1) != _GO:
                    os._exit(1)
                for descriptor in (reader, writer, wait):
                    os.close(descriptor)
                line.close()
                _become(request, output, head)
                return 0, None
            os.setpgid(child, child)
            os.write(writer, b"%d" % child)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    for descriptor in (writer, wait):
        os.close(descriptor)
    os.waitpid(between, 0)
    pid = int(os.read(reader, 32))
    os.close(reader)
    return pid, gate


def _become(request, output, head):
    """Sets everything that differs between the processes of trials: output, environment, arguments, NumPy's seed."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(null)
    os.close(output)
    for name, value in request["environment"].items():
        os.environ[name] = value
    arguments = request["argv"][head:]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[len(sys.orig_argv) - len(sys.argv) + 1 :] = arguments
    sys.argv[1:] = arguments
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()  # Python itself reseeds `random` after a fork
