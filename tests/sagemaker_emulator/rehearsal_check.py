# SPDX-License-Identifier: Apache-2.0
"""Plays one schedule against the emulator, whose containers are processes in compressed real time, and against
the simulated account under its virtual clock. Both must bill the same.

STEPTUNE_REHEARSE_SCHEDULE names the program of rehearse_schedule.cpp."""

import json
import os
import subprocess
import time
import unittest
import urllib.request

from boto3_check import Emulated, FINISHED

SCALE = 40
PROGRAM_S = 3.0  # real
# The emulator sees a container's start and end at its next look, and processes take time to start: some hundredths of a
# second each, times the scale.
TOLERANCE_S = 10.0
TYPE = "ml.m5.large"


class Rehearsal(Emulated):
    configuration = {
        "scale": SCALE, "training_quota": {"*": 6}, "warm_pool_quota": {TYPE: 2},
        "images": {"while": ["/bin/sh", "-c", f"exec sleep {PROGRAM_S}"],
                   "endless": ["/bin/sh", "-c", "exec sleep 1000"],
                   "broken": ["/bin/sh", "-c",
                              f'sleep {PROGRAM_S}; printf "no such file" > "$SAGEMAKER_BASE_DIR/output/failure"; '
                              "exit 3"]}}
    programs = {"while": {"ends_after_s": PROGRAM_S * SCALE}, "endless": {},
                "broken": {"ends_after_s": PROGRAM_S * SCALE, "exit_code": 3, "failure": "no such file"}}

    def setUp(self):
        super().setUp()
        self.inputs = {}

    def create(self, name, image, **changes):
        self.inputs[name] = self.request(name, image, **changes)
        self.sagemaker.create_training_job(**self.inputs[name])

    def audit(self):
        with urllib.request.urlopen(f"{self.url}/_emulator/audit") as answer:
            return json.load(answer)

    def resources(self, instance_type=TYPE, keep_alive=120):
        return {"InstanceType": instance_type, "InstanceCount": 1, "VolumeSizeInGB": 10,
                "KeepAlivePeriodInSeconds": keep_alive}

    def run_schedule(self):
        """Plays a cold job and a warm one that is stopped. Beside them, one job runs too long, one fails, and one is
        stopped before it gets machines."""
        self.create("cold", "while", ResourceConfig=self.resources(keep_alive=600))
        self.create("limited", "endless", StoppingCondition={"MaxRuntimeInSeconds": 90},
                    ResourceConfig=self.resources("ml.c5.xlarge"))
        self.create("broken", "broken", ResourceConfig=self.resources("ml.c5.xlarge"))
        self.create("early", "while", ResourceConfig=self.resources("ml.c5.xlarge"))
        self.sagemaker.stop_training_job(TrainingJobName="early")
        self.finish("cold", lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Available")
        time.sleep(2.0)
        self.create("warm", "endless", ResourceConfig=self.resources())
        self.finish("warm", lambda job: job["SecondaryStatus"] == "Training")
        time.sleep(2.0)
        self.sagemaker.stop_training_job(TrainingJobName="warm")
        self.finish("warm", lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Terminated")
        for name in self.inputs:
            self.assertIn(self.finish(name)["TrainingJobStatus"], FINISHED)
        return self.audit()

    def requests_of(self, emulated):
        """Returns the requests to the emulator, with the times at which they took effect."""
        start = min(job["created_at"] for job in emulated["jobs"])
        requests = [{"at_s": job["created_at"] - start, "operation": "CreateTrainingJob",
                     "input": self.inputs[job["name"]]} for job in emulated["jobs"]]
        for job in emulated["jobs"]:
            stopping = [entry["StartTime"] for entry in job["transitions"] if entry["Status"] == "Stopping"]
            if job["secondary"] == "Stopped":
                requests.append({"at_s": stopping[0] - start, "operation": "StopTrainingJob",
                                 "input": {"TrainingJobName": job["name"]}})
        return sorted(requests, key=lambda request: request["at_s"]), emulated["now"] - start

    def rehearse(self, emulated):
        requests, until = self.requests_of(emulated)
        schedule = {"programs": self.programs, "warm_pool_quota": {TYPE: 2}, "requests": requests,
                    "until_s": until}
        played = subprocess.run([os.environ["STEPTUNE_REHEARSE_SCHEDULE"]], input=json.dumps(schedule),
                                capture_output=True, text=True, check=False)
        self.assertEqual(played.returncode, 0, played.stderr)
        return json.loads(played.stdout)

    def test_both_bill_the_same(self):
        emulated = self.run_schedule()
        rehearsed = self.rehearse(emulated)
        self.assertEqual(len(emulated["jobs"]), 5)
        for job in emulated["jobs"]:
            twin = rehearsed["jobs"][job["name"]]
            with self.subTest(job=job["name"]):
                print(f"{job['name']:8} billable {job['billable_s']:7.1f} s emulated, "
                      f"{twin['billable_s']:7.1f} s rehearsed")
                for same in ("status", "secondary", "warm"):
                    self.assertEqual(twin[same], job[same])
                self.assertEqual(twin["failure_reason"], job["failure_reason"] or "")
                self.assertEqual(twin["stages"], [entry["Status"] for entry in job["transitions"]])
                self.assertAlmostEqual(twin["billable_s"], job["billable_s"], delta=TOLERANCE_S)
        retained = {pool["job"]: pool["retained_s"] for pool in emulated["pools"]}
        self.assertEqual(set(retained), {"cold", "warm"})
        for name, seconds in retained.items():
            print(f"{name:8} retained {seconds:7.1f} s emulated, {rehearsed['retained_s'][name]:7.1f} s rehearsed")
            self.assertAlmostEqual(rehearsed["retained_s"][name], seconds, delta=TOLERANCE_S)


if __name__ == "__main__":
    unittest.main()
