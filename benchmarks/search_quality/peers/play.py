# SPDX-License-Identifier: Apache-2.0
"""Runs another project's searcher as a peer of search_quality: one study, controlled by lines of JSON.

The first line of stdin describes the space and names the searcher. Then the script repeats two actions until stdin
ends. First it prints a line with a suggestion, and with the CPU milliseconds that the suggestion and the `tell` before
it took. Then it reads a line with the values, or {"values": null} for a failure. All values are to be minimised. Most
peers ignore failed trials. Therefore a failure is passed to them as the worst values so far.
"""
import importlib
import json
import os
import sys
import time
import warnings

# Each searcher uses one thread. The libraries read these variables when they are imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
# If a machine sets these variables for old versions of OpenBLAS, they select slow kernels.
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)


class Study:
    """Passes results to the peer; replaces a failure by the worst values so far."""

    def __init__(self, peer):
        self._peer = peer
        self._worst = None

    def ask(self):
        return self._peer.ask()

    def tell(self, reply):
        values = reply["values"]
        if values is None:
            self._peer.tell_failure(self._worst)
            return
        if reply["fidelity"] < 1.0:
            self._peer.tell_stopped(values, reply["fidelity"])
            return
        self._worst = [max(pair) for pair in zip(self._worst, values)] if self._worst else values
        self._peer.tell(values)


def main():
    warnings.filterwarnings("ignore")
    # Only suggestions go to the socket. A library's messages go to stderr.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    library = request["searcher"].partition("-")[0]
    study = Study(importlib.import_module(library + "_peer").make(request))
    telling_s = 0.0
    while True:
        started = time.process_time()
        x = study.ask()
        ms = 1e3 * (time.process_time() - started + telling_s)
        print(json.dumps({"x": x, "ms": ms}), file=channel, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        started = time.process_time()
        study.tell(json.loads(line))
        telling_s = time.process_time() - started


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)  # search_quality has enough suggestions
