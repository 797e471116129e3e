# SPDX-License-Identifier: Apache-2.0
"""Checks commands of the real program against the emulator. boto3 makes the jobs. STEPTUNE_PROGRAM names the program."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from boto3_check import Emulated

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import output_schema  # noqa: E402

OURS = "resnet-nightly-0a1b2c3d-t7-a1"
RUNNING = "resnet-nightly-0a1b2c3d-t8-a1-r2"
STRANGER = "someone-else-1"


class Commands(Emulated):
    # Real time, since the program compares the service's clock with its own.
    configuration = {"scale": 1, "training_quota": {"*": 4}, "warm_pool_quota": {"*": 4},
                     "timing": {"cold_start_s": 1.0, "download_s": {"FastFile": 0.2}, "image_download_s": 0.2,
                                "upload_s": 0.2, "pool_ready_s": 0.2},
                     "prices": {"ml.m5.large": {"usd": 0.12, "vCpu": "2", "memory": "8 GiB"},
                                "ml.c5.xlarge": 0.204, "ml.c5.2xlarge": 0.408,
                                "ml.g9.large": {"usd": 9.5, "vCpu": "4", "memory": "16 GiB",
                                                "physicalGpu": "1"}}}

    def steptune(self, *arguments, code=0, **environment):
        settings = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": self._folder.name,
                    "AWS_ENDPOINT_URL": self.url, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
                    "AWS_ACCESS_KEY_ID": "AKIDEMULATOR", "AWS_SECRET_ACCESS_KEY": "emulator-secret",
                    **environment}
        ended = subprocess.run([os.environ["STEPTUNE_PROGRAM"], *arguments], capture_output=True, text=True,
                               env={key: value for key, value in settings.items() if value is not None},
                               cwd=self._folder.name, check=False, timeout=100)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        if os.environ.get("STEPTUNE_SHOW"):
            print("$ steptune", *arguments, "\n" + ended.stdout + ended.stderr)
        return ended

    def json_of(self, *arguments, **keywords):
        document = json.loads(self.steptune(*arguments, "--json", **keywords).stdout)
        definition = arguments[0]
        if definition == "prices":
            several = arguments.count("--region") > 1
            definition += "_refresh" if "refresh" in arguments else "_regions" if several else ""
        self.assertEqual(output_schema.faults(document, definition), [], document)
        return document

    def pool_status(self, job):
        return self.sagemaker.describe_training_job(TrainingJobName=job)["WarmPoolStatus"]["Status"]


class Pools(Commands):
    def make_jobs(self):
        resources = {"InstanceType": "ml.unknown.large", "InstanceCount": 2, "VolumeSizeInGB": 10,
                     "KeepAlivePeriodInSeconds": 3000}
        self.create(OURS, "echo", keep_alive=3000)
        self.create(RUNNING, "sleep", instance_type="ml.c5.xlarge")
        self.create(STRANGER, "echo", ResourceConfig={**resources, "InstanceType": "ml.m4.xlarge"})
        for job in (OURS, STRANGER):
            self.finish(job, lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Available")
        self.finish(RUNNING, lambda job: job["SecondaryStatus"] == "Training")
        self.finish(OURS, lambda job: job["WarmPoolStatus"]["ResourceRetainedBillableTimeInSeconds"] >= 3)

    def test_lists_what_costs_money_and_gives_back_what_is_ours(self):
        self.make_jobs()
        shown = self.steptune("pools").stdout
        self.assertIn(OURS, shown)
        self.assertIn("warm pool", shown)
        self.assertNotIn(STRANGER, shown)
        self.assertIn("1 warm pool and 1 running job: $0.32 per hour", shown)
        self.assertIn("steptune pools --release", shown)
        self.assertIn("steptune run STUDY_FILE", shown)
        self.assertIn("1 job of others, too", shown)

        everything = self.steptune("pools", "--all").stdout
        self.assertIn(STRANGER, everything)
        self.assertIn("2 ml.m4.xlarge", everything)
        self.assertIn("at least $0.32 per hour, and 1 of unknown price", everything)

        view = self.json_of("pools", "--all")
        self.assertIsNone(view["usd_per_hour"], "an unknown price is not nothing")
        machines = {entry["job"]: entry for entry in view["machines"]}
        ours = machines[OURS]
        self.assertEqual((ours["study"], ours["trial"], ours["attempt"]), ("resnet-nightly", 7, 1))
        self.assertEqual((ours["holding"], ours["status"]), ("kept", "Available"))
        self.assertEqual(ours["instances"], [{"type": "ml.m5.large", "count": 1}])
        self.assertEqual(ours["usd_per_hour"], 0.115)
        self.assertGreater(ours["retained_s"], 0)
        self.assertAlmostEqual(ours["retained_s"] + ours["keep_alive_left_s"], 3000, delta=1)
        self.assertAlmostEqual(ours["usd_so_far"], 0.115 * ours["retained_s"] / 3600, places=9)
        self.assertEqual((machines[RUNNING]["holding"], machines[RUNNING]["trial"]), ("running", 8))
        self.assertIsNone(machines[STRANGER]["study"])
        self.assertIsNone(machines[STRANGER]["usd_so_far"])

        released = self.steptune("pools", "--release", "--all").stdout
        self.assertIn(f"given back: 1 ml.m5.large of job {OURS}", released)
        self.assertIn(RUNNING, released)
        self.assertEqual(self.pool_status(OURS), "Terminated")
        self.assertEqual(self.pool_status(STRANGER), "Available", "nobody named it")
        named = self.json_of("pools", STRANGER, "--release")
        self.assertEqual([(entry["job"], entry["outcome"]) for entry in named["releases"]],
                         [(STRANGER, "released")])
        self.assertEqual(self.pool_status(STRANGER), "Terminated")

        self.sagemaker.stop_training_job(TrainingJobName=RUNNING)
        self.finish(RUNNING)
        self.steptune("pools", "--release")
        self.assertEqual(self.steptune("pools").stdout, "no job holds machines in us-east-1\n")

    def test_says_what_is_wrong_and_what_to_do(self):
        self.assertIn('there is no job "none"', self.steptune("pools", "none", code=1).stderr)
        no_keys = self.steptune("pools", code=5, AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None).stderr
        self.assertIn("no AWS credentials", no_keys)
        self.assertIn("aws configure", no_keys)
        no_region = self.steptune("pools", code=5, AWS_REGION=None).stderr
        self.assertIn("no AWS region is configured", no_region)
        wrong = self.steptune("pools", code=5, AWS_SECRET_ACCESS_KEY="another-secret").stderr
        self.assertIn("check AWS_PROFILE", wrong)
        self.assertNotIn("another-secret", wrong)
        absent = self.steptune("pools", code=1, AWS_ENDPOINT_URL="http://127.0.0.1:9").stderr
        self.assertIn("AWS_ENDPOINT_URL", absent)


class Prices(Commands):
    def test_shows_the_table_in_use(self):
        shown = self.steptune("prices", "g5.x").stdout
        self.assertIn("us-east-1", shown)
        self.assertIn("ml.g5.xlarge", shown)
        self.assertNotIn("ml.m5", shown)
        table = self.json_of("prices", AWS_REGION=None)
        self.assertEqual(table["region"], "us-east-1")
        self.assertEqual(table["instances"]["ml.g5.xlarge"]["usd_per_hour"], 1.408)
        self.assertIn("'steptune prices refresh'", self.steptune("prices", "--region", "eu-north-1", code=1).stderr)
        self.assertIn("not an AWS region", self.steptune("prices", "--region", "../x", code=2).stderr)

    def test_compares_regions(self):
        self.steptune("prices", "refresh")
        folder = pathlib.Path(self._folder.name, ".local/share/steptune/prices")
        table = json.loads((folder / "sagemaker-us-east-1.json").read_text())
        table["region"] = "eu-west-1"
        table["instances"] = {"ml.m5.large": {"usd_per_hour": 0.15}, "ml.x1.large": {"usd_per_hour": 2},
                              "ml.g9.large": table["instances"]["ml.g9.large"]}
        (folder / "sagemaker-eu-west-1.json").write_text(json.dumps(table))
        both = ("--region", "us-east-1", "--region", "eu-west-1")
        shown = self.steptune("prices", *both, "large").stdout
        self.assertRegex(shown, r"instance type +us-east-1 +eu-west-1 +most over least\n")
        self.assertRegex(shown, r"ml\.m5\.large +\* 0\.12 +0\.15 +\+25\.0 %\n")
        self.assertRegex(shown, r"ml\.x1\.large +- +2 *\n")
        compared = self.json_of("prices", *both)
        self.assertEqual([region["region"] for region in compared["regions"]], ["us-east-1", "eu-west-1"])
        self.assertEqual(compared["instances"]["ml.m5.large"],
                         {"cheapest_regions": ["us-east-1"], "usd_per_hour": {"us-east-1": 0.12, "eu-west-1": 0.15}})
        self.assertEqual(compared["instances"]["ml.x1.large"]["usd_per_hour"]["us-east-1"], None)
        self.assertEqual(compared["instances"]["ml.g9.large"]["cheapest_regions"], ["us-east-1", "eu-west-1"])
        self.assertIn("named twice", self.steptune("prices", *both, *both, code=2).stderr)
        self.assertIn("one region", self.steptune("prices", "refresh", *both, code=2).stderr)

    def test_a_refreshed_table_is_used_from_then_on(self):
        printed = self.steptune("prices", "refresh").stdout
        file = pathlib.Path(self._folder.name, ".local/share/steptune/prices/sagemaker-us-east-1.json")
        self.assertIn(str(file), printed)
        self.assertIn("4 prices of us-east-1", printed)
        self.assertRegex(printed, r"ml\.m5\.large +\$0\.115 +-> \$0\.12 +\+4\.3 %")
        self.assertIn("1 new: ml.g9.large", printed)
        written = json.loads(file.read_text())
        self.assertEqual(written["instances"]["ml.g9.large"],
                         {"usd_per_hour": 9.5, "vcpus": 4, "memory_gib": 16.0, "gpus": 1})
        self.assertEqual(written["instances"]["ml.c5.2xlarge"]["vcpus"], 8, "from the table before")
        self.assertEqual(list(file.parent.iterdir()), [file], "nothing half written is left")
        shown = self.json_of("prices")
        self.assertEqual(shown["file"], str(file))
        self.assertEqual(shown["instances"]["ml.m5.large"]["usd_per_hour"], 0.12)
        again = self.json_of("prices", "refresh", "--output", "mine.json")
        self.assertEqual((again["changed"], again["added"], again["gone"]), ([], [], []))
        self.assertEqual(json.loads(pathlib.Path(self._folder.name, "mine.json").read_text())["instances"],
                         written["instances"])

    def test_a_failed_refresh_leaves_the_table_alone(self):
        self.steptune("prices", "refresh")
        file = pathlib.Path(self._folder.name, ".local/share/steptune/prices/sagemaker-us-east-1.json")
        before = file.read_bytes()
        unknown = self.steptune("prices", "refresh", "--region", "eu-west-9", code=1).stderr
        self.assertIn("no training prices for the region", unknown)
        self.steptune("prices", "refresh", code=5, AWS_SECRET_ACCESS_KEY="wrong")
        self.assertEqual(file.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
