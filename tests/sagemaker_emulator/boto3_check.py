# SPDX-License-Identifier: Apache-2.0
"""Checks the emulator with boto3, an independent client."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import boto3
import botocore.config
import botocore.exceptions

ROLE = "arn:aws:iam::123456789012:role/training"
FINISHED = ("Completed", "Failed", "Stopped")


class Emulated(unittest.TestCase):
    """Starts an emulator with `configuration`, in which 200 emulated seconds pass in one real second."""

    configuration = {}

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self._folder.name)
        configuration = {
            "scale": 200, "training_quota": {"*": 2}, "warm_pool_quota": {"ml.m5.large": 2}, "log_delay_s": 1,
            "images": {"echo": ["/bin/sh", "-c", "echo begun; sleep 0.05; echo ended"],
                       "sleep": ["/bin/sh", "-c", "exec sleep 30"],
                       "broken": ["/bin/sh", "-c",
                                  'echo "no such file" > "$SAGEMAKER_BASE_DIR/output/failure"; exit 3'],
                       "greedy": ["/bin/sh", "-c", "kill -9 $$"]},
            **self.configuration}
        (root / "config.json").write_text(json.dumps(configuration))
        self._process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).parent), "--root", str(root / "root"),
             "--config", str(root / "config.json")], stdout=subprocess.PIPE, text=True)
        self.url = self._process.stdout.readline().split()[-1]
        self.sagemaker = self.client("sagemaker")
        self.logs = self.client("logs")
        self.client("s3").put_object(Bucket="data", Key="train/a.txt", Body=b"hello")

    def tearDown(self):
        with urllib.request.urlopen(f"{self.url}/_emulator/audit") as answer:
            audit = json.load(answer)
        self._process.terminate()
        self.assertEqual(audit["wrong_answers"], [])
        self.assertEqual(self._process.wait(timeout=10), 0)
        self._process.stdout.close()
        self._folder.cleanup()

    def client(self, name, secret="emulator-secret", attempts=8):
        return boto3.client(name, endpoint_url=self.url, region_name="us-east-1",
                            aws_access_key_id="AKIDEMULATOR", aws_secret_access_key=secret,
                            config=botocore.config.Config(
                                retries={"max_attempts": attempts, "mode": "standard"}))

    @staticmethod
    def request(name, image="echo", instance_type="ml.m5.large", keep_alive=600, **changes):
        request = dict(
            TrainingJobName=name, RoleArn=ROLE,
            AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "FastFile"},
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": "s3://data/train/"}}}],
            OutputDataConfig={"S3OutputPath": "s3://data/out"},
            ResourceConfig={"InstanceType": instance_type, "InstanceCount": 1, "VolumeSizeInGB": 10,
                            "KeepAlivePeriodInSeconds": keep_alive},
            StoppingCondition={"MaxRuntimeInSeconds": 36000})
        request.update(changes)
        return request

    def create(self, name, *arguments, **changes):
        return self.sagemaker.create_training_job(**self.request(name, *arguments, **changes))

    def finish(self, name, until=lambda job: job["TrainingJobStatus"] in FINISHED):
        for _ in range(100):
            job = self.sagemaker.describe_training_job(TrainingJobName=name)
            if until(job):
                return job
            time.sleep(0.2)
        self.fail(f"{name} does not reach the awaited state: {job['SecondaryStatus']}")

    def refusal(self, function, *arguments, **keywords):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            function(*arguments, **keywords)
        error = caught.exception.response["Error"]
        return error["Code"], error["Message"]


def stages(job):
    return [entry["Status"] for entry in job["SecondaryStatusTransitions"]]


def stage_s(job, name):
    return sum((entry["EndTime"] - entry["StartTime"]).total_seconds()
               for entry in job["SecondaryStatusTransitions"] if entry["Status"] == name)


class Jobs(Emulated):
    def test_a_job_passes_its_stages_and_the_next_one_reuses_its_pool(self):
        self.create("cold")
        starting = self.sagemaker.describe_training_job(TrainingJobName="cold")
        for absent in ("TrainingStartTime", "BillableTimeInSeconds", "TrainingEndTime"):
            self.assertNotIn(absent, starting)
        cold = self.finish("cold", lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Available")
        self.assertEqual(stages(cold), ["Starting", "Downloading", "Training", "Uploading", "Completed"])
        # By default a cold job starts for 150 s, a warm one for 20 s.
        self.assertAlmostEqual(stage_s(cold, "Starting"), 150, delta=1)
        time.sleep(0.1)
        self.create("warm")
        self.assertAlmostEqual(stage_s(self.finish("warm"), "Starting"), 20, delta=1)
        cold = self.sagemaker.describe_training_job(TrainingJobName="cold")
        self.assertEqual(cold["WarmPoolStatus"]["Status"], "Reused")
        self.assertEqual(cold["WarmPoolStatus"]["ReusedByJob"], "warm")
        self.assertGreater(cold["WarmPoolStatus"]["ResourceRetainedBillableTimeInSeconds"], 0)

    def test_keep_alive_without_quota_is_accepted_and_does_nothing(self):
        self.create("no-quota", instance_type="ml.c5.xlarge")
        self.assertEqual(self.finish("no-quota")["WarmPoolStatus"],
                         {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 0})

    def test_another_volume_size_is_another_pool(self):
        self.create("first")
        self.finish("first", lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Available")
        self.create("second", ResourceConfig={
            "InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 11})
        self.assertAlmostEqual(stage_s(self.finish("second"), "Starting"), 150, delta=1)

    def test_a_pool_is_released_by_an_update(self):
        self.create("job")
        self.finish("job", lambda job: job.get("WarmPoolStatus", {}).get("Status") == "Available")
        self.sagemaker.update_training_job(TrainingJobName="job",
                                           ResourceConfig={"KeepAlivePeriodInSeconds": 0})
        job = self.sagemaker.describe_training_job(TrainingJobName="job")
        self.assertEqual(job["WarmPoolStatus"]["Status"], "Terminated")
        code, _ = self.refusal(self.sagemaker.update_training_job, TrainingJobName="job",
                               ResourceConfig={"KeepAlivePeriodInSeconds": 60})
        self.assertEqual(code, "ValidationException")

    def test_stopping_a_running_job(self):
        self.create("long", image="sleep")
        self.finish("long", lambda job: job["SecondaryStatus"] == "Training")
        time.sleep(0.5)
        self.sagemaker.stop_training_job(TrainingJobName="long")
        job = self.finish("long")
        self.assertEqual((job["TrainingJobStatus"], job["SecondaryStatus"]), ("Stopped", "Stopped"))
        code, message = self.refusal(self.sagemaker.stop_training_job, TrainingJobName="long")
        self.assertEqual(message, "The request was rejected because the training job is in status Stopped.")

    def test_failures_are_worded_as_the_service_words_them(self):
        self.create("broken", image="broken")
        self.create("greedy", image="greedy")
        self.assertEqual(self.finish("broken")["FailureReason"],
                         "AlgorithmError: no such file\n, exit code: 3")
        self.assertIn("instance type with more memory", self.finish("greedy")["FailureReason"])

    def test_a_job_beyond_the_quota_is_refused_at_once(self):
        self.create("one", image="sleep")
        self.create("two", image="sleep")
        code, message = self.refusal(self.create, "three", image="sleep")
        self.assertEqual(code, "ResourceLimitExceeded")
        self.assertIn("'ml.m5.large for training job usage' is 2 Instances", message)

    def test_requests_that_the_service_would_refuse(self):
        self.assertIn("must be unique", [self.create("twice"), self.refusal(self.create, "twice")][1][1])
        self.assertIn("regular expression", self.refusal(self.create, "under_score")[1])
        self.assertIn("No S3 objects found", self.refusal(self.create, "empty", InputDataConfig=[
            {"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": "s3://data/nothing/"}}}])[1])
        self.assertIn("only supported when EnableManagedSpotTraining", self.refusal(
            self.create, "wait", StoppingCondition={"MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 2})[1])
        self.assertEqual(self.refusal(self.sagemaker.describe_training_job, TrainingJobName="none"),
                         ("ValidationException", "Requested resource not found."))

    def test_pages_may_be_empty_and_go_on(self):
        for name in ("first", "second"):
            self.create(name, keep_alive=0)
        self.finish("second")
        page = self.sagemaker.list_training_jobs(StatusEquals="Failed", MaxResults=1)
        self.assertEqual(page["TrainingJobSummaries"], [])
        self.assertIn("NextToken", page)

    def test_logs_are_read_by_prefix_page_by_page(self):
        self.create("job")
        self.finish("job")
        time.sleep(0.1)
        names, messages, token = set(), [], {}
        while True:
            page = self.logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs",
                                               logStreamNamePrefix="job/", limit=1, **token)
            messages += [event["message"] for event in page["events"]]
            names |= {event["logStreamName"].partition("/")[0] for event in page["events"]}
            if "nextToken" not in page:
                break
            token = {"nextToken": page["nextToken"]}
        self.assertEqual((messages, names), (["begun", "ended"], {"job"}))

    def test_a_wrong_secret_is_refused(self):
        stranger = self.client("sagemaker", secret="guessed")
        self.assertEqual(self.refusal(stranger.list_training_jobs)[0], "InvalidSignatureException")

    def test_requests_beyond_the_rate_are_throttled(self):
        impatient = self.client("sagemaker", attempts=1)

        def code(_):
            try:
                impatient.list_training_jobs()
            except botocore.exceptions.ClientError as error:
                return error.response["Error"]["Code"]
            return None

        # Sent one after another, requests to a busy machine would stay below the permitted rate.
        with concurrent.futures.ThreadPoolExecutor(20) as senders:
            codes = set(senders.map(code, range(60)))
        self.assertEqual(codes - {None}, {"ThrottlingException"})


class PoolsBeingReadied(Emulated):
    configuration = {"timing": {"pool_ready_s": 600}}

    def test_a_pool_is_in_use_until_it_is_ready(self):
        self.create("job")
        job = self.finish("job")
        self.assertEqual(job["WarmPoolStatus"],
                         {"Status": "InUse", "ResourceRetainedBillableTimeInSeconds": 0})
        code, _ = self.refusal(self.sagemaker.update_training_job, TrainingJobName="job",
                               ResourceConfig={"KeepAlivePeriodInSeconds": 0})
        self.assertEqual(code, "ValidationException")
        self.finish("job", lambda job: job["WarmPoolStatus"]["Status"] == "Available")


class Misfortunes(Emulated):
    configuration = {"faults": [
        {"kind": "capacity", "job": "^full"}, {"kind": "internal", "job": "^sick", "after_s": 1},
        {"kind": "spot_interruption", "job": "^spot", "after_s": 1},
        {"kind": "drop_response", "operation": "CreateTrainingJob", "contains": '"lost"'}]}

    def test_faults_of_jobs_and_a_lost_response(self):
        self.create("full")
        full = self.finish("full")
        self.assertTrue(full["FailureReason"].startswith("CapacityError: "))
        self.assertNotIn("BillableTimeInSeconds", full)
        self.create("sick", image="sleep")
        sick = self.finish("sick")
        self.assertTrue(sick["FailureReason"].startswith("InternalServerError: "))
        self.assertEqual(sick["WarmPoolStatus"]["Status"], "Terminated")
        self.create("spot", EnableManagedSpotTraining=True,
                    ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
                    StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 3600},
                    AlgorithmSpecification={"TrainingImage": "echo", "TrainingInputMode": "FastFile"})
        spot = self.finish("spot")
        self.assertEqual(spot["TrainingJobStatus"], "Completed")
        self.assertEqual(stages(spot).count("Starting"), 2)
        self.assertIn("Interrupted", stages(spot))
        # Create takes effect although its response is lost, so the retry finds the job.
        self.assertEqual(self.refusal(self.create, "lost")[0], "ResourceInUse")


if __name__ == "__main__":
    unittest.main()
