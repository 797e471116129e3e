# SPDX-License-Identifier: Apache-2.0
"""Scripted faults. A script is a list of objects:

  {"kind": "throttle" | "internal_error" | "drop_response" | "truncate" | "expired_credentials",
   "operation": "CreateTrainingJob", "nth": 2}                 the n-th admitted request of an operation,
                                                               or with "contains": "text" the first whose
                                                               body has it
  {"kind": "capacity" | "internal" | "spot_interruption" | "steal_pool",
   "job": "regular expression", "after_s": 5, "times": 1}      a fault of a job; times: first attempts
  any of them with "probability": 0.1 instead of "nth" or "times": drawn from the seeded generator.
"""

import random
import re
import threading

REQUEST_KINDS = {"throttle", "internal_error", "drop_response", "truncate", "expired_credentials"}
JOB_KINDS = {"capacity", "internal", "spot_interruption", "steal_pool"}


class Faults:
    def __init__(self, script, seed):
        for fault in script:
            if fault.get("kind") not in REQUEST_KINDS | JOB_KINDS:
                raise ValueError(f"unknown fault kind: {fault}")
        self._script = [dict(fault) for fault in script]
        self._random = random.Random(seed)
        self._counts = {}
        self._lock = threading.Lock()

    def for_request(self, operation, body):
        """Returns the kind of fault for this request, or None."""
        with self._lock:
            count = self._counts[operation] = self._counts.get(operation, 0) + 1
            for fault in self._script:
                if fault["kind"] not in REQUEST_KINDS or fault.get("operation", operation) != operation:
                    continue
                if "probability" in fault:
                    if self._random.random() < fault["probability"]:
                        return fault["kind"]
                elif "contains" in fault:
                    if fault["contains"] in body and fault.setdefault("times", 1) > 0:
                        fault["times"] -= 1
                        return fault["kind"]
                elif fault.get("nth") == count:
                    return fault["kind"]
        return None

    def for_job(self, name, kind):
        """Returns the next fault of this kind for a job and uses it up; or None."""
        with self._lock:
            for fault in self._script:
                if fault["kind"] != kind or not re.search(fault.get("job", ""), name):
                    continue
                if "probability" in fault:
                    if self._random.random() < fault["probability"]:
                        return fault
                elif fault.setdefault("times", 1) > 0:
                    fault["times"] -= 1
                    return fault
        return None
