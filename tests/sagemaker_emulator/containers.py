# SPDX-License-Identifier: Apache-2.0
"""A "container": a local process with a separate folder like /opt/ml."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading


class Container:
    """Runs the entry point of a job; `on_line(text)` gets its output line by line."""

    def __init__(self, root, job_name, request, group, images, s3, on_line):
        self.base = pathlib.Path(root) / "jobs" / job_name / group["host"]
        self.ml = self.base / "opt" / "ml"
        # A restarted spot job keeps only its checkpoints.
        checkpoints = self.ml / "checkpoints"
        kept = self.base / "kept-checkpoints"
        if checkpoints.exists():
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(checkpoints, kept)
            shutil.rmtree(self.ml)
        for folder in ("input/config", "input/data", "model", "output/data"):
            (self.ml / folder).mkdir(parents=True, exist_ok=True)
        if kept.exists():
            shutil.copytree(kept, checkpoints)
        checkpoints.mkdir(exist_ok=True)
        self._write_inputs(request, group, s3)
        algorithm = request["AlgorithmSpecification"]
        argv = list(algorithm.get("ContainerEntrypoint", []))
        if not argv:
            argv = images[algorithm.get("TrainingImage", algorithm.get("AlgorithmName"))] + ["train"]
        argv += algorithm.get("ContainerArguments", [])
        # Mounting /opt/ml needs privileges, so paths below it are redirected.
        argv = [word.replace("/opt/ml", str(self.ml)) for word in argv]
        if len(group["hosts"]) > 1:
            argv = self._network(group["hosts"]) + argv
        environment = dict(os.environ)
        for name in list(environment):
            if name.startswith(("AWS_", "STEPTUNE_")):
                del environment[name]
        environment.update(request.get("Environment", {}))
        environment.update({
            "TRAINING_JOB_NAME": job_name, "AWS_REGION": "us-east-1",
            "TRAINING_JOB_ARN": f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{job_name}",
            "SAGEMAKER_BASE_DIR": str(self.ml), "PYTHONUNBUFFERED": "1"})
        self._process = subprocess.Popen(argv, cwd=self.base, env=environment, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         start_new_session=True)
        self._reader = threading.Thread(target=self._read, args=(on_line,), daemon=True)
        self._reader.start()

    def _network(self, hosts):
        """Returns words for the front of a command that let it find the job's hosts by name; none if no namespace can
        be made."""
        names = self.base / "hosts"
        names.write_text(pathlib.Path("/etc/hosts").read_text()
                         + "".join(f"127.0.0.1 {host}\n" for host in hosts))
        words = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount",
                 "/bin/sh", "-c", f"mount --bind '{names}' /etc/hosts && exec \"$@\"", "sh"]
        return words if subprocess.run(words + ["true"], capture_output=True).returncode == 0 else []

    def _write_inputs(self, request, group, s3):
        config = self.ml / "input" / "config"
        (config / "hyperparameters.json").write_text(json.dumps(request.get("HyperParameters", {})))
        (config / "resourceconfig.json").write_text(json.dumps({
            "current_host": group["host"], "current_instance_type": group["type"],
            "current_group_name": group["name"], "hosts": group["hosts"],
            "instance_groups": group["groups"], "network_interface_name": "eth0"}))
        channels = {}
        for channel in request.get("InputDataConfig", []):
            name = channel["ChannelName"]
            mode = channel.get("InputMode", request["AlgorithmSpecification"]["TrainingInputMode"])
            channels[name] = {"TrainingInputMode": "Pipe" if mode == "Pipe" else "File",
                              "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}
            source = channel["DataSource"].get("S3DataSource")
            if source:
                s3.copy_prefix(source["S3Uri"], self.ml / "input" / "data" / name)
        (config / "inputdataconfig.json").write_text(json.dumps(channels))

    def _read(self, on_line):
        for line in self._process.stdout:
            on_line(line.decode("utf-8", "replace").rstrip("\n"))
        # A container's /tmp ends with it; here the folder is named after the first process.
        shutil.rmtree(f"{tempfile.gettempdir()}/steptune-hook-{self._process.pid}", ignore_errors=True)

    def poll(self):
        status = self._process.poll()
        if status is not None:
            self._reader.join(timeout=1.0)
        return status

    def signal(self, number):
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.signal(signal.SIGKILL)
        self._process.wait()

    def failure_text(self):
        try:
            return (self.ml / "output" / "failure").read_text(errors="replace")[:1024]
        except OSError:
            return ""

    def cpu_seconds(self):
        """Returns the CPU time of the container's processes so far."""
        ticks = 0
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                text = pathlib.Path("/proc", process, "stat").read_text()
            except OSError:
                continue
            fields = text.rpartition(")")[2].split()
            if int(fields[2]) == self._process.pid:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
