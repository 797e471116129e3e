# SPDX-License-Identifier: Apache-2.0
"""Reads what Steptune writes with the programs of other projects: MLflow, Optuna, boto3 and the SageMaker SDK.

    scripts/frameworks counterparts

STEPTUNE_PROGRAM names the program; the default is that of build/dev.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "tests" / "sagemaker_emulator"
PROGRAM = os.environ.setdefault("STEPTUNE_PROGRAM", str(ROOT / "build/dev/bin/steptune"))
sys.path.insert(0, str(EMULATOR))

import boto3  # noqa: E402
import boto3_check  # noqa: E402
import mlflow  # noqa: E402
import optuna  # noqa: E402
import sagemaker.core.resources  # noqa: E402
import tuning_check  # noqa: E402

# Every kind of parameter, failed and pruned trials, and a text that is hard to quote. Speeds are computed, not measured.
STUDY = (ROOT / "tests/golden/all_kinds.json").read_text(encoding="utf-8")


class Exports(unittest.TestCase):
    """Exports of one study."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="steptune-counterparts-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        (cls.folder / "study.json").write_text(STUDY, encoding="utf-8")
        cls.steptune("run", "study.json", "--quiet")
        everything = json.loads(cls.steptune("export", "all-kinds", "-", "--format", "json"))
        cls.trials = [trial for trial in everything["trials"] if trial["purpose"] in ("baseline", "hint", "search")]

    @classmethod
    def steptune(cls, *words):
        done = subprocess.run([PROGRAM, *words], cwd=cls.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=600)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stderr}{done.stdout}")
        return done.stdout

    def completed(self):
        return [trial for trial in self.trials if trial["status"] == "completed"]

    def test_optuna_opens_its_storage(self):
        self.steptune("export", "all-kinds", "optuna.db", "--format", "optuna")
        storage = f"sqlite:///{self.folder}/optuna.db"
        study = optuna.load_study(study_name="all-kinds", storage=storage,
                                  sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=5))
        self.assertEqual([trial.params for trial in study.trials], [trial["configuration"] for trial in self.trials])
        states = {"completed": "COMPLETE", "stopped_early": "PRUNED"}
        self.assertEqual([trial.state.name for trial in study.trials], [states[t["status"]] for t in self.trials])
        self.assertIn("PRUNED", {trial.state.name for trial in study.trials})
        self.assertEqual(study.direction.name, "MINIMIZE")
        self.assertEqual(study.metric_names, ["time"])
        self.assertAlmostEqual(study.best_value, min(t["objectives"][0]["value"] for t in self.completed()))
        self.assertEqual(len(study.trials_dataframe()), len(self.trials))
        self.assertEqual(study.trials[0].distributions["share"],
                         optuna.distributions.FloatDistribution(0.0, 1.0, step=0.25))

        # Optuna goes on with the study, and Steptune reads what Optuna wrote.
        for known in study.trials[:3]:
            study.enqueue_trial(known.params)
            trial = study.ask(known.distributions)
            self.assertEqual(trial.params, known.params)
            study.tell(trial, 12345.0)
        told = json.loads(self.steptune("import", "optuna.db", "--study", "study.json", "--json"))
        self.assertEqual(told["trials"], len(self.completed()) + 3, told)

    def test_a_study_of_optuna_is_imported(self):
        study = optuna.create_study(study_name="theirs", storage=f"sqlite:///{self.folder}/theirs.db")
        space = {"batch": optuna.distributions.CategoricalDistribution([16, 32, 64, 128, 256]),
                 "rate": optuna.distributions.FloatDistribution(0.001, 0.1, log=True),
                 "share": optuna.distributions.FloatDistribution(0.0, 1.0, step=0.25),
                 "compile": optuna.distributions.CategoricalDistribution([False]),
                 "note": optuna.distributions.CategoricalDistribution(["plain"]),
                 "level": optuna.distributions.IntDistribution(1, 2)}
        for number in range(4):
            trial = study.ask(space)
            study.tell(trial, 1000.0 + number)
        told = json.loads(self.steptune("import", "theirs.db", "--study", "study.json", "--name", "theirs", "--json"))
        self.assertEqual(told["trials"], 4, told)

    def read_by_mlflow(self, client):
        """Compares the experiment with the study."""
        (experiment,) = client.search_experiments(filter_string="name = 'all-kinds'")
        runs = client.search_runs([experiment.experiment_id], max_results=1000)
        self.assertEqual(len(runs), len(self.trials))
        trials = {f"trial-{trial['number']}": trial for trial in self.trials}
        for run in runs:
            trial = trials[run.info.run_name]
            self.assertEqual(set(run.data.params), set(trial["configuration"]))
            self.assertEqual(run.data.params["note"], trial["configuration"]["note"])
            self.assertEqual(run.data.tags["steptune.status"], trial["status"])
            if trial["status"] == "completed":
                self.assertEqual(run.info.status, "FINISHED")
                self.assertTrue(math.isclose(run.data.metrics["time"], trial["objectives"][0]["value"]))
        best = min(self.completed(), key=lambda trial: trial["objectives"][0]["value"])
        (first,) = client.search_runs([experiment.experiment_id], filter_string="status = 'FINISHED'",
                                      order_by=["metrics.time ASC"], max_results=1)
        self.assertEqual(first.info.run_name, f"trial-{best['number']}")

    def test_mlflow_reads_its_file_store(self):
        self.steptune("export", "all-kinds", "mlruns", "--format", "mlflow")
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        self.addCleanup(os.environ.pop, "MLFLOW_ALLOW_FILE_STORE")
        self.read_by_mlflow(mlflow.MlflowClient((self.folder / "mlruns").as_uri()))

    def test_mlflow_migrates_its_file_store(self):
        self.steptune("export", "all-kinds", "moving", "--format", "mlflow")
        target = f"sqlite:///{self.folder}/mlflow.db"
        subprocess.run([sys.executable, "-m", "mlflow", "migrate-filestore", "--source", str(self.folder / "moving"),
                        "--target", target], check=True, cwd=self.folder, capture_output=True, text=True)
        self.read_by_mlflow(mlflow.MlflowClient(target))


class Boto3Jobs(boto3_check.Jobs):
    """The emulator with today's boto3, which parses its answers."""


class Boto3Misfortunes(boto3_check.Misfortunes):
    """The emulator's failures with today's boto3."""


class SageMaker(tuning_check.Tuned):
    """Tunes a study with jobs in the emulator, which validates requests and answers with this environment's botocore, the
    newest version. `tearDown` fails if the validation found a fault."""

    def test_the_sdk_reads_the_jobs_back(self):
        study = tuning_check.fake_study(budget={"trials": 3})
        study["runner"]["tags"] = {"team": "vision"}
        self.finish(self.begin(study))
        audit = self.assert_nothing_costs()
        session = boto3.Session(aws_access_key_id="AKIDEMULATOR", region_name="us-east-1",
                                aws_secret_access_key=tuning_check.SECRETS["key"],
                                aws_session_token=tuning_check.SECRETS["token"])
        os.environ["AWS_ENDPOINT_URL_SAGEMAKER"] = self.url
        self.addCleanup(os.environ.pop, "AWS_ENDPOINT_URL_SAGEMAKER")
        TrainingJob = sagemaker.core.resources.TrainingJob
        listed = {job.training_job_name for job in TrainingJob.get_all(session=session, region="us-east-1")}
        self.assertEqual(listed, {job["name"] for job in audit["jobs"]})
        for job in audit["jobs"]:
            read = TrainingJob.get(job["name"], session=session, region="us-east-1")
            self.assertEqual(read.training_job_status, job["status"])
            self.assertEqual(read.resource_config.instance_type, job["instances"][0][0])
            self.assertEqual(read.algorithm_specification.training_image, "echo")
            self.assertEqual(read.output_data_config.s3_output_path, "s3://my-bucket/output")
            # A job holds one trial or a pack of them.
            self.assertTrue({"STEPTUNE_TRIAL", "STEPTUNE_PACK"} & set(read.environment), read.environment)


if __name__ == "__main__":
    unittest.main()
