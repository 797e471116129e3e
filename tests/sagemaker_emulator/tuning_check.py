# SPDX-License-Identifier: Apache-2.0
"""Runs whole tunings with the real program against the emulator."""

import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parent.parent
STEPTUNE = os.environ.get("STEPTUNE_PROGRAM", "steptune")
CLASSIFIER = os.environ.get("STEPTUNE_CLASSIFIER", "")
SECRETS = {"key": "planted-Secret-Key-0000000000000000000000", "token": "planted-session-token-111111",
           "variable": "planted-hub-token-22222222"}
FINISHED = ("Completed", "Failed", "Stopped")


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def fake_study(**changes):
    study = {
        "name": "emulated",
        "command": [sys.executable, str(HERE / "trainer.py"), "--batch-size", "{batch_size}",
                    "--workers", "{workers}"],
        "parameters": {
            "batch_size": {"type": "int", "low": 16, "high": 64, "scale": "log2"},
            "workers": {"type": "int", "low": 0, "high": 3},
            "instance": {"type": "categorical", "choices": ["ml.m5.large", "ml.c5.xlarge"]}},
        "baseline": {"batch_size": 16, "workers": 0, "instance": "ml.m5.large"},
        "planned_run": {"samples": 1e8, "batch_size": "batch_size"},
        "objectives": ["cost"],
        "search": {"searcher": "random", "scheduler": "none", "seed": 1},
        "budget": {"trials": 3},
        "measure": {"max_trial": "15s", "min_window": "1s", "target_half_width": 0.1, "confirm_pairs": 1},
        "runner": {
            "type": "sagemaker", "region": "us-east-1", "role": "arn:aws:iam::123456789012:role/training",
            "image": "echo", "channels": {"train": "s3://my-bucket/images/train/"},
            "output": "s3://my-bucket/output", "instance_type": "{instance}", "poll": "0.3s"}}
    study.update(changes)
    return study


def training(audit):
    """True if the job that was started last is training."""
    return audit["jobs"] and audit["jobs"][-1]["secondary"] == "Training"


class Tuned(unittest.TestCase):
    """Starts an emulator in which 40 emulated seconds pass in one real second, and writes a study."""

    configuration = {}

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._folder.name)
        configuration = {"scale": 40, "training_quota": {"*": 2}, "warm_pool_quota": {"*": 2},
                         "images": {"echo": ["/bin/echo"]},
                         "keys": {"AKIDEMULATOR": [SECRETS["key"], SECRETS["token"], time.time() + 3600]},
                         **self.configuration}
        (self.root / "config.json").write_text(json.dumps(configuration))
        self._emulator = subprocess.Popen(
            [sys.executable, str(HERE), "--root", str(self.root / "aws"), "--config",
             str(self.root / "config.json")], stdout=subprocess.PIPE, text=True)
        self.url = self._emulator.stdout.readline().split()[-1]
        data = self.root / "aws" / "s3" / "my-bucket" / "images" / "train"
        data.mkdir(parents=True)
        (data / "a.txt").write_text("hello")
        self.variables = {}
        self.work = self.root / "work"
        self.work.mkdir()

    def put_pytorch_program(self, name, file):
        """Writes the program to the bucket of the study's code channel. Skips the test without PyTorch."""
        if importlib.util.find_spec("torch") is None:
            self.skipTest("no PyTorch in /usr/bin/python3")
        code = self.root / "aws" / "s3" / "my-bucket" / "code"
        code.mkdir(parents=True)
        (code / name).write_bytes(file.read_bytes())

    def tearDown(self):
        audit = self.audit()
        self._emulator.terminate()
        # botocore's models permit all requests of the program, and all answers that it got.
        faults = audit["refused"] + audit["wrong_answers"]
        self.assertFalse(faults, "\n".join(fault[:300] for fault in faults))
        self.assertEqual(self._emulator.wait(timeout=10), 0)
        self._emulator.stdout.close()
        self._folder.cleanup()

    def environment(self):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH",
                                                    "ASAN_OPTIONS") if name in os.environ}
        return {**kept, "AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": "AKIDEMULATOR",
                "AWS_SECRET_ACCESS_KEY": SECRETS["key"], "AWS_SESSION_TOKEN": SECRETS["token"],
                "AWS_CONFIG_FILE": str(self.root / "no-config"),
                "AWS_SHARED_CREDENTIALS_FILE": str(self.root / "no-credentials"), **self.variables}

    def begin(self, study, *options):
        (self.work / "study.json").write_text(json.dumps(study))
        return subprocess.Popen([STEPTUNE, "run", "study.json", "--yes", *options], cwd=self.work,
                                env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=1000)
        self.assertEqual(process.returncode, code, err + out)
        return out, err

    def read(self, *words):
        done = subprocess.run([STEPTUNE, *words, "--json"], cwd=self.work, env=self.environment(),
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def audit(self):
        with urllib.request.urlopen(f"{self.url}/_emulator/audit") as answer:
            return json.load(answer)

    def wait_for(self, process, condition, what):
        """Waits until the emulator's audit meets the condition, while the tuner runs."""
        while process.poll() is None:
            audit = self.audit()
            if condition(audit):
                return audit
            time.sleep(0.1)
        self.fail(f"the tuner ended with {process.returncode} before {what}: {process.communicate()}")

    def assert_nothing_costs(self):
        audit = self.audit()
        self.assertEqual([job["name"] for job in audit["jobs"] if job["status"] not in FINISHED], [])
        self.assertEqual([pool["job"] for pool in audit["pools"] if pool["status"] == "Available"], [])
        return audit

    def assert_one_job_each(self, audit):
        trials = [re.search(r"-t(\d+)-", job["name"]).group(1) for job in audit["jobs"]]
        self.assertEqual(len(trials), len(set(trials)), trials)


class Example(Tuned):
    def test_the_example_study_is_tuned_as_it_would_be_locally(self):
        data = self.root / "aws" / "s3" / "my-bucket" / "images" / "train"
        (data / "a.txt").unlink()
        data.rmdir()
        subprocess.run([CLASSIFIER, "--generate", str(data), "--images", "64", "--classes", "2", "--size", "64"],
                       check=True, capture_output=True)
        text = (SOURCE / "examples/image_classifier/study_sagemaker.json").read_text()
        study = json.loads(without_comments(text))
        study["command"][0] = CLASSIFIER
        # The second trial has the baseline's instance type, so it can reuse the pool.
        study["try"] = [{"batch_size": 32, "workers": 2, "instance": "ml.m5.large"},
                        {"batch_size": 16, "workers": 2, "instance": "ml.c5.xlarge"}]
        study["budget"] = {"trials": 3}
        study["search"] = {"searcher": "sobol", "scheduler": "none"}
        study["measure"] = {"max_trial": "10s", "min_window": "1s", "target_half_width": 0.3, "confirm_pairs": 1}
        # A job of several trials would leave no job that could reuse its pool.
        study["runner"].update(image="echo", poll="0.3s", trials_per_job=1)
        del study["$schema"]
        result = json.loads(self.finish(self.begin(study, "--json"))[0])
        self.assertGreater(result["recommendation"]["tuning_usd"], 0.0)
        self.assertIn("instance", result["recommendation"]["configuration"])

        trials = self.read("leaderboard")["rows"]
        self.assertGreaterEqual(len(trials), 3, [self.read("show", str(i + 1)) for i in range(3)])
        shown = self.read("show", "1")
        self.assertIn("ml.m5.large", json.dumps(shown))

        audit = self.assert_nothing_costs()
        self.assert_one_job_each(audit)
        self.assertGreater(sum(job["warm"] for job in audit["jobs"]), 0, "no pool was ever reused")

        jobs = len(audit["jobs"])
        again = json.loads(self.finish(self.begin(study, "--json"))[0])
        self.assertEqual(again["recommendation"]["configuration"], result["recommendation"]["configuration"])
        self.assertEqual(len(self.audit()["jobs"]), jobs, "a finished study starts nothing")


def has_torchrun():
    look = ["/usr/bin/python3", SOURCE / "tests/support/has_torchrun.py"]
    return subprocess.run(look, capture_output=True).returncode == 0


class Launching(Tuned):
    def test_torchrun_trains_over_two_instances(self):
        self.put_pytorch_program("ddp.py", SOURCE / "tests/slurm/ddp.py")
        if not has_torchrun():
            self.skipTest("no torchrun that starts processes in /usr/bin/python3")
        study = fake_study(
            command=["/usr/bin/python3", "ddp.py", "{batch}", "it's $HOME"],
            env={"PYTHONPATH": str(SOURCE / "trial_runner/reporters"), "OMP_NUM_THREADS": "1"},
            launch={"processes_per_node": 2, "options": ["--redirects=9:1", "--tee=9:1"]},
            parameters={"batch": {"type": "ordinal", "choices": [4]}}, baseline={"batch": 4},
            objectives=["time"], budget={"trials": 1},
            measure={"max_trial": "40s", "min_window": "1s", "target_half_width": 0.3, "confirm_pairs": 0})
        del study["planned_run"]
        study["runner"].update(instance_type="ml.m5.large", instance_count=2, code="s3://my-bucket/code")
        self.finish(self.begin(study))
        trial = self.read("show", "1")["trial"]
        self.assertEqual(trial["status"], "completed", trial)
        step_s = trial["measurement"]["seconds_per_sample"] * 4 * 4
        self.assertGreater(step_s, 0.05)
        self.assertLess(step_s, 0.5)
        # The second instance writes to another log stream.
        self.assertIn("straggler: rank 3", trial["measurement"]["remark"])
        self.assert_nothing_costs()


class Pack(Tuned):
    # Real time, because the time of a line decides which trial it belongs to.
    configuration = {"scale": 1, "log_delay_s": 1,
                     "timing": {"cold_start_s": 1.0, "warm_start_s": 0.5, "image_download_s": 0.5, "upload_s": 0.5,
                                "download_s": {"File": 1.0, "FastFile": 1.0}, "pool_ready_s": 0.2}}

    def test_trials_of_one_job_end_each_in_its_own_way_and_the_bill_is_the_accounts(self):
        study = fake_study(
            command=[sys.executable, str(HERE / "trainer.py"), "--batch-size", "16", "--workers", "{workers}",
                     "--fate", "{fate}"],
            parameters={"workers": {"type": "int", "low": 0, "high": 3},
                        "fate": {"type": "categorical", "choices": ["trains", "fails", "hangs", "is_slow"]}},
            baseline={"workers": 1, "fate": "trains"},
            planned_run={"samples": 1e8}, objectives=["time"], budget={"trials": 5},
            # The baseline takes its whole time, so that the others get the same.
            measure={"max_trial": "6s", "min_window": "1s", "target_half_width": 0.001, "confirm_pairs": 0})
        study["try"] = [{"workers": 1, "fate": "fails"}, {"workers": 1, "fate": "hangs"},
                        {"workers": 1, "fate": "is_slow"}, {"workers": 3, "fate": "trains"}]
        study["limits"] = {"grace": "1s"}
        study["runner"]["instance_type"] = "ml.m5.large"
        result = json.loads(self.finish(self.begin(study, "--json"))[0])
        trials = [self.read("show", str(number))["trial"] for number in range(1, 6)]
        status = [trial["status"] for trial in trials]
        self.assertEqual(status[:3] + status[4:], ["completed", "failed", "failed", "completed"], trials)
        # The job ends this trial for being slow. If the tuner measures it before it reads so, the trial counts as completed.
        self.assertIn(status[3], ["stopped_early", "completed"], trials[3])
        self.assertLess(trials[3]["spent_s"], trials[4]["spent_s"] - 1.0)
        self.assertIn("exit code: 3", trials[1]["failure"])
        audit = self.assert_nothing_costs()
        self.assertEqual(len(audit["jobs"]), 2, "the baseline's, and one of all others")
        self.assertEqual({trial["placement"]["job"] for trial in trials[1:]}, {audit["jobs"][1]["name"]})
        usd_per_s = json.loads((SOURCE / "configs/prices/sagemaker-us-east-1.json").read_text())[
            "instances"]["ml.m5.large"]["usd_per_hour"] / 3600
        # The service reports whole seconds, and some pass between a job's marks and its end.
        billed_s = [round(job["billable_s"]) for job in audit["jobs"]]
        idle_s = sum(pool["retained_s"] for pool in audit["pools"])
        paid_s = [sum(trial["spent_usd"] for trial in of_job) / usd_per_s for of_job in (trials[:1], trials[1:])]
        self.assertAlmostEqual(paid_s[0], billed_s[0], delta=3.0)
        self.assertAlmostEqual(paid_s[1], billed_s[1] + idle_s, delta=3.0)
        self.assertAlmostEqual(result["recommendation"]["tuning_usd"] / usd_per_s, sum(billed_s) + idle_s, delta=4.0)


class Machines(Tuned):
    configuration = Pack.configuration

    def test_packs_of_three_kinds_of_machines_each_have_their_trials_outcomes_and_bill(self):
        kinds = ["ml.m5.large", "ml.c5.xlarge", "ml.g5.xlarge"]
        study = fake_study(
            command=[sys.executable, str(HERE / "trainer.py"), "--batch-size", "16", "--workers", "{workers}",
                     "--fate", "{fate}"],
            parameters={"workers": {"type": "int", "low": 0, "high": 3},
                        "fate": {"type": "categorical", "choices": ["trains", "fails", "hangs"]},
                        "instance": {"type": "categorical", "choices": kinds}},
            baseline={"workers": 0, "fate": "trains", "instance": kinds[0]},
            planned_run={"samples": 1e8}, search={"seed": 1}, budget={"trials": 7},
            measure={"max_trial": "6s", "min_window": "1s", "target_half_width": 0.1, "confirm_pairs": 0,
                     "sentinels": False})
        study["try"] = [{"workers": 1, "fate": fate, "instance": kind}
                        for kind, fate in ((kinds[1], "fails"), (kinds[1], "trains"), (kinds[2], "hangs"),
                                           (kinds[2], "trains"))]
        study["limits"] = {"grace": "1s", "idle": "3s"}
        result = json.loads(self.finish(self.begin(study, "--json"))[0])
        trials = [self.read("show", str(number))["trial"] for number in range(1, 8)]
        self.assertEqual(trials[0]["status"], "completed", trials[0])
        self.assertEqual([trials[1]["status"], trials[3]["status"]], ["failed", "failed"], trials)
        self.assertIn("exit code: 3", trials[1]["failure"])
        # Either limit of its turn may be reached first.
        self.assertRegex(trials[3]["failure"], "no output for 3.0 s|could not be measured")
        for trial in (trials[2], trials[4]):
            self.assertIn(trial["status"], ["completed", "stopped_early"], trial)
        audit = self.assert_nothing_costs()
        self.assertLessEqual(len(audit["jobs"]), 4, "7 trials")
        self.assertEqual([trials[2]["placement"]["start"], trials[4]["placement"]["start"]], ["in turn", "in turn"])
        prices = json.loads((SOURCE / "configs/prices/sagemaker-us-east-1.json").read_text())["instances"]
        for kind in kinds:
            jobs = [job for job in audit["jobs"] if job["instances"] == [[kind, 1]]]
            own = [trial for trial in trials if trial["configuration"]["instance"] == kind]
            self.assertEqual({trial["placement"]["job"] for trial in own}, {job["name"] for job in jobs})
            # The service reports whole seconds, and some pass between a job's marks and its end.
            billed_s = sum(round(job["billable_s"]) for job in jobs)
            idle_s = sum(pool["retained_s"] for pool in audit["pools"] if pool["instance_type"] == kind)
            paid_s = sum(trial["spent_usd"] for trial in own) / (prices[kind]["usd_per_hour"] / 3600)
            self.assertAlmostEqual(paid_s, billed_s + idle_s, delta=3.0 * len(jobs), msg=kind)
            self.assertTrue(all(trial["spent_usd"] > 0 for trial in own), own)
        self.assertIsNotNone(result["recommendation"])


class Hooked(Tuned):
    configuration = Pack.configuration

    def tune(self, workers, jobs, **runner):
        """Tunes a program that reports nothing and has no options. `workers`: numbers of workers to try, ascending from
        0. `jobs`: the expected number of jobs."""
        self.put_pytorch_program("train.py", SOURCE / "tests/pytorch_hook/programs/waits_for_data.py")
        study = fake_study(
            command=["/usr/bin/python3", "train.py"], env={"OMP_NUM_THREADS": "1"},
            hooks={"python": {"num_workers": "{workers}", "num_threads": 1, "malloc": "keep"}},
            parameters={"workers": {"type": "ordinal", "choices": workers}}, baseline={"workers": 0},
            search={"searcher": "grid", "scheduler": "none"}, objectives=["time"], budget={"trials": len(workers)},
            measure={"max_trial": "25s", "min_window": "2s", "target_half_width": 0.2, "confirm_pairs": 0,
                     "sentinels": False})
        del study["planned_run"]
        study["runner"].update(instance_type="ml.m5.large", code="s3://my-bucket/code", **runner)
        self.finish(self.begin(study))
        trials = [self.read("show", str(number))["trial"] for number in range(1, len(workers) + 1)]
        for trial in trials:
            self.assertIn(trial["status"], ["completed", "stopped_early"], trial)
            self.assertEqual(trial["measurement"]["window_samples"], trial["measurement"]["window_steps"] * 8)
            self.assertGreater(trial["measurement"]["metrics"]["loss"], 0)
        step_s = {trial["configuration"]["workers"]: trial["measurement"]["seconds_per_sample"] * 8 for trial in trials}
        data_s = {trial["configuration"]["workers"]: trial["measurement"]["parts_s_per_sample"]["data"] * 8
                  for trial in trials}
        self.assertGreater(step_s[0], 0.04)
        for of_step_s in (step_s, data_s):
            for fewer, more in zip(workers, workers[1:]):
                self.assertLess(of_step_s[more], 0.8 * of_step_s[fewer])
        audit = self.assert_nothing_costs()
        self.assertEqual(len(audit["jobs"]), jobs)

    def test_the_trials_of_a_job_each_have_their_settings(self):
        self.tune([0, 2, 4], jobs=2)

    def test_a_job_for_each_trial_brings_the_hook_too(self):
        self.tune([0, 4], jobs=2, trials_per_job=1)
        done = subprocess.run([STEPTUNE, "best", "--format", "sagemaker"], cwd=self.work, env=self.environment(),
                              capture_output=True, text=True, check=True)
        self.assertNotIn("cannot set", done.stderr)
        request = json.loads(done.stdout)["CreateTrainingJob"]
        self.assertIn("steptune-hook-001", request["HyperParameters"])
        self.assertIn("$STEPTUNE_HOOK", request["AlgorithmSpecification"]["ContainerArguments"][1])
        script = "".join(request["Environment"][f"STEPTUNE_HOOK_{number}"]
                         for number in range(1, len(request["Environment"]) + 1)
                         if f"STEPTUNE_HOOK_{number}" in request["Environment"])
        self.assertIn('"mode":"apply"', script)
        self.assertRegex(script, r'"num_workers":[24]')


class Death(Tuned):
    def test_a_killed_tuner_finds_its_jobs_again(self):
        study = fake_study()
        process = self.begin(study)
        self.wait_for(process, lambda audit: len(audit["jobs"]) >= 2 and training(audit), "the second job trains")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # A newer price table does not make it another study.
        table = json.loads((SOURCE / "configs/prices/sagemaker-us-east-1.json").read_text())
        table["instances"]["ml.m5.large"]["usd_per_hour"] = 0.5
        (self.root / "sagemaker-us-east-1.json").write_text(json.dumps(table))
        self.variables["STEPTUNE_PRICE_PATH"] = str(self.root)
        self.finish(self.begin(study))
        audit = self.assert_nothing_costs()
        self.assert_one_job_each(audit)
        self.assertEqual(self.read("leaderboard")["study"]["name"], "emulated")


class Leaving(Tuned):
    def test_detached_jobs_go_on_and_are_adopted(self):
        study = fake_study()
        study["runner"].update(discounts={"ml.m5.*": 0.2}, volume_gb=90, storage_usd_per_gb_month=0.14)
        process = self.begin(study, "--on-interrupt", "detach")
        self.wait_for(process, training, "a job trains")
        process.send_signal(signal.SIGINT)
        err = self.finish(process, code=130)[1]
        self.assertRegex(err, r"job \S+-t1-a1 continues: \$0\.11 per hour")
        self.assertIn("steptune run", err)
        self.assertEqual(self.audit()["jobs"][-1]["status"], "InProgress")
        # Without study file and history, the job's tags give its price.
        [job] = self.read("pools", "--region", "us-east-1")["machines"]
        self.assertEqual((job["price"]["from"], job["price"]["market"]), ("study", "on_demand"))
        self.assertAlmostEqual(job["price"]["list_usd_per_hour"], 0.115)
        self.assertAlmostEqual(job["price"]["discount_usd_per_hour"], 0.023)
        self.assertAlmostEqual(job["price"]["volume_usd_per_hour"], 0.0175)
        self.assertAlmostEqual(job["usd_per_hour"], 0.1095)
        self.finish(self.begin(study))
        self.assert_one_job_each(self.assert_nothing_costs())

    def test_an_interrupted_tuner_leaves_nothing_that_costs(self):
        process = self.begin(fake_study())
        self.wait_for(process, training, "a job trains")
        process.send_signal(signal.SIGINT)
        self.finish(process, code=130)
        audit = self.assert_nothing_costs()
        self.assertEqual([job["status"] for job in audit["jobs"]], ["Stopped"])


class Secrets(Tuned):
    configuration = {"faults": [{"kind": "expired_credentials", "operation": "DescribeTrainingJob", "nth": 2},
                                {"kind": "internal_error", "operation": "FilterLogEvents", "nth": 2}]}

    def test_no_artefact_holds_a_secret(self):
        study = fake_study(budget={"trials": 2})
        # Keys are in a file, and in a variable that trials do not get.
        (self.root / "credentials").write_text(
            f"[default]\naws_access_key_id = AKIDEMULATOR\naws_secret_access_key = {SECRETS['key']}\n"
            f"aws_session_token = {SECRETS['token']}\n")
        self.variables = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
                          "AWS_SHARED_CREDENTIALS_FILE": str(self.root / "credentials"),
                          "HUB_TOKEN": SECRETS["variable"]}
        study["env"] = {"TRAIN_MODE": "fast"}
        process = self.begin(study)
        arguments = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
        out, err = self.finish(process)
        # For refused keys, the service's answer repeats what was sent.
        wrong = {**self.environment(), "AWS_ACCESS_KEY_ID": "AKIDEMULATOR",
                 "AWS_SECRET_ACCESS_KEY": SECRETS["key"] + "-wrong",
                 "AWS_SESSION_TOKEN": SECRETS["token"]}
        refused = subprocess.run([STEPTUNE, "run", "study.json", "--yes", "--new"], cwd=self.work, env=wrong,
                                 capture_output=True, text=True)
        self.assertNotEqual(refused.returncode, 0)
        shown = "".join(subprocess.run([STEPTUNE, *words], cwd=self.work, env=self.environment(),
                                       capture_output=True, text=True).stdout
                        for words in (["leaderboard", "--json"], ["show", "1"], ["show", "1", "--json"],
                                      ["best"], ["doctor"]))
        texts = {"stdout": out.encode(), "stderr": err.encode(), "argv": arguments, "shown": shown.encode(),
                 "refusal": (refused.stdout + refused.stderr).encode()}
        for path in self.work.rglob("*"):
            if path.is_file():
                texts[str(path)] = path.read_bytes()
        self.assertGreater(len(texts), 6)
        for name, text in texts.items():
            for secret in SECRETS.values():
                self.assertNotIn(secret.encode(), text, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
