# SPDX-License-Identifier: Apache-2.0
"""One training job and its statuses, in emulated time."""

import signal

from containers import Container
import pools

TERMINAL = ("Completed", "Failed", "Stopped")


class Timing:
    """Emulated seconds of each stage. By default a cold job has its machines after 150 s and a warm one after 20 s.
    Then come the downloads: the data, by input mode, and the image of a cold job."""

    def __init__(self, cold_start_s=150.0, warm_start_s=20.0, download_s=None, image_download_s=30.0,
                 upload_s=10.0, stop_grace_s=120.0, pool_ready_s=2.0):
        self.cold_start_s = cold_start_s
        self.warm_start_s = warm_start_s
        self.download_s = download_s or {"File": 40.0, "FastFile": 3.0, "Pipe": 3.0}
        self.image_download_s = image_download_s
        self.upload_s = upload_s
        self.stop_grace_s = stop_grace_s
        self.pool_ready_s = pool_ready_s


class Job:
    def __init__(self, request, arn, now, warm, world):
        self.request = request
        self.name = request["TrainingJobName"]
        self.arn = arn
        self.warm = warm
        self.world = world
        self.status = "InProgress"
        self.created_at = self.modified_at = now
        self.training_start = self.training_end = None
        self.failure_reason = None
        self.transitions = []
        self.pool = None
        self.billable_s = 0.0
        self.container_stream = None
        self._containers = []
        self._stop_requested_at = None
        self._final = None  # (status, secondary, reason, cluster healthy)
        self._attempt_started = None
        self._cpu = []
        timing = world.timing
        self._enter("Starting", now, timing.warm_start_s if warm else timing.cold_start_s,
                    "Starting the training job")

    # -- resources -------------------------------------------------------------------------------

    @property
    def resources(self):
        return self.request["ResourceConfig"]

    def instance_counts(self):
        groups = self.resources.get("InstanceGroups")
        if groups:
            return [(group["InstanceType"], group["InstanceCount"]) for group in groups]
        return [(self.resources["InstanceType"], self.resources["InstanceCount"])]

    @property
    def spot(self):
        return self.request.get("EnableManagedSpotTraining", False)

    @property
    def secondary(self):
        return self.transitions[-1]["Status"]

    def uses_instances(self):
        return self.status not in TERMINAL

    def _hosts(self):
        groups = self.resources.get("InstanceGroups") or [
            {"InstanceGroupName": "homogeneousCluster", "InstanceType": self.resources["InstanceType"],
             "InstanceCount": self.resources["InstanceCount"]}]
        described, hosts = [], []
        for group in groups:
            members = [f"algo-{len(hosts) + i + 1}" for i in range(group["InstanceCount"])]
            hosts += members
            described.append({"instance_group_name": group["InstanceGroupName"],
                              "instance_type": group["InstanceType"], "hosts": members})
        return [{"host": host, "hosts": hosts, "groups": described, "type": group["instance_type"],
                 "name": group["instance_group_name"]} for group in described for host in group["hosts"]]

    # -- statuses --------------------------------------------------------------------------------

    def _enter(self, secondary, now, duration_s, message):
        if self.transitions:
            self.transitions[-1]["EndTime"] = now
        self.transitions.append({"Status": secondary, "StartTime": now, "StatusMessage": message})
        self.modified_at = now
        self._until = now + duration_s

    def _download_s(self):
        modes = [channel.get("InputMode", self.request["AlgorithmSpecification"]["TrainingInputMode"])
                 for channel in self.request.get("InputDataConfig", [])]
        return max((self.world.timing.download_s[mode] for mode in modes), default=0.0)

    def stop(self, now):
        self._stop_requested_at = now
        self.status = "Stopping"
        had_instances = bool(self.training_start)
        self._enter("Stopping", now, self.world.timing.stop_grace_s, "Stopping the training job")
        self._final = ("Stopped", "Stopped", None, had_instances)
        for container in self._containers:
            container.signal(signal.SIGTERM)

    def advance(self, now):
        """Advances the job to the time `now`."""
        for _ in range(10):
            if self.status in TERMINAL or not self._step(now):
                return

    def _step(self, now):
        stage = self.secondary
        if stage == "Starting":
            return self._leave_starting(now)
        if stage == "Downloading" and now >= self._until:
            self._enter("Training", self._until, 0.0, "Training image download completed. "
                                                      "Training in progress.")
            self._until += 0.0 if self.warm else self.world.timing.image_download_s
            return True
        if stage in ("Training", "Stopping"):
            return self._watch_containers(now, stage)
        if stage == "Uploading" and now >= self._until:
            self._finish(self._until)
            return True
        return False

    def _leave_starting(self, now):
        if now < self._until:
            return False
        if self.world.faults.for_job(self.name, "capacity"):
            self._final = ("Failed", "Failed", "CapacityError: Unable to provision requested ML compute "
                           "capacity. Please retry using a different ML instance type.", False)
            self._finish(self._until)
            return True
        if self.training_start is None:
            self.training_start = self._until
        self._attempt_started = self._until
        self._enter("Downloading", self._until, self._download_s(), "Downloading input data")
        return True

    def _watch_containers(self, now, stage):
        if stage == "Stopping" and not self._containers:
            self._enter("Uploading", now, 0.0, "Uploading generated training model")
            return True
        if now < self._until and not self._containers:
            return False
        if not self._containers and stage == "Training":
            self._start_containers(now)
            return False
        if stage == "Training" and self._misfortune(now):
            return True
        statuses = [container.poll() for container in self._containers]
        overdue = stage == "Stopping" and now >= self._until
        if overdue:
            for container in self._containers:
                container.kill()
            statuses = [container.poll() for container in self._containers]
        if stage == "Training" and now - self._training_began >= self._max_runtime():
            self._until = now + self.world.timing.stop_grace_s
            self._final = ("Stopped", "MaxRuntimeExceeded", None, True)
            self.status = "Stopping"
            self._enter("Stopping", now, self.world.timing.stop_grace_s, "MaxRuntimeExceeded")
            for container in self._containers:
                container.signal(signal.SIGTERM)
            return True
        if any(status is None for status in statuses):
            return False
        if self._final is None:
            self._final = self._verdict(max(statuses, key=abs))
        upload_s = 0.0 if self._final[0] == "Failed" else self.world.timing.upload_s
        self._enter("Uploading", now, upload_s, "Uploading generated training model")
        return True

    def _max_runtime(self):
        return self.request["StoppingCondition"].get("MaxRuntimeInSeconds", 86400)

    def _start_containers(self, now):
        self._training_began = now
        epoch = int(now * 1000)
        for group in self._hosts():
            stream = f"{self.name}/{group['host']}-{epoch}"
            self.container_stream = self.container_stream or stream
            try:
                self._containers.append(Container(
                    self.world.root, self.name, self.request, group, self.world.images, self.world.s3,
                    lambda line, stream=stream: self.world.logs.append(stream, line)))
            except (OSError, KeyError) as error:
                self._final = ("Failed", "Failed", f"ClientError: Cannot start the container: {error}", True)
                self._enter("Uploading", now, 0.0, "Uploading generated training model")
                return
        internal = self.world.faults.for_job(self.name, "internal")
        self._internal_at = now + internal.get("after_s", 5.0) if internal else None
        spot = self.world.faults.for_job(self.name, "spot_interruption") if self.spot else None
        self._interrupt_at = now + spot.get("after_s", 5.0) if spot else None

    def _misfortune(self, now):
        if self._internal_at is not None and now >= self._internal_at:
            self._kill_containers()
            self._final = ("Failed", "Failed", "InternalServerError: We encountered an internal error. "
                           "Please try again.", False)
            self._enter("Uploading", now, 0.0, "")
            return True
        if self._interrupt_at is not None and now >= self._interrupt_at:
            self._kill_containers()
            self.billable_s += now - self._attempt_started
            self._enter("Interrupted", now, 0.0, "Interrupted: instances were reclaimed")
            max_wait_s = self.request["StoppingCondition"]["MaxWaitTimeInSeconds"]
            if now - self.created_at + self.world.timing.cold_start_s > max_wait_s:
                self._final = ("Stopped", "MaxWaitTimeExceeded", None, False)
                self._attempt_started = None
                self._finish(now)
            else:
                self._attempt_started = None
                self._enter("Starting", now, self.world.timing.cold_start_s, "Starting the training job")
            return True
        return False

    def _kill_containers(self):
        for container in self._containers:
            container.kill()
        self._containers = []

    def _verdict(self, status):
        if status == 0:
            return ("Completed", "Completed", None, True)
        failure = "".join(container.failure_text() for container in self._containers)
        code = 128 - status if status < 0 else status
        if code == 137:
            return ("Failed", "Failed", "ClientError: Please use an instance type with more memory, or "
                    "reduce the size of job data processed on an instance.", True)
        return ("Failed", "Failed", f"AlgorithmError: {failure}, exit code: {code}"[:1024], True)

    def _finish(self, now):
        status, secondary, reason, healthy = self._final
        self._enter(secondary, now, 0.0, {"Completed": "Training job completed"}.get(status, reason or ""))
        self.transitions[-1]["EndTime"] = now
        self.status = status
        self.failure_reason = reason
        if self.training_start is not None:
            self.training_end = now
            if self._attempt_started is not None:
                self.billable_s += now - self._attempt_started
        self._containers = []
        keep_alive_s = self.resources.get("KeepAlivePeriodInSeconds", 0)
        if keep_alive_s > 0:
            self.world.leave_pool(self, keep_alive_s, now, healthy)

    def destroy(self):
        self._kill_containers()

    # -- measurements ----------------------------------------------------------------------------

    def sample_cpu(self, now):
        """Records the average CPU use since the last sample, in percent of one core, summed over cores as in CloudWatch."""
        for container in self._containers[:1]:
            used = container.cpu_seconds()
            if self._cpu:
                then, before, _ = self._cpu[-1]
                if now - then < 60.0:
                    return
                real_s = self.world.clock.real_seconds(now - then)
                self._cpu.append((now, used, 100.0 * max(0.0, used - before) / max(real_s, 1e-3)))
            else:
                self._cpu.append((now, used, 0.0))

    def cpu_points(self):
        return [(time, percent) for time, _, percent in self._cpu[1:]]

    # -- answers ---------------------------------------------------------------------------------

    def summary(self, now):
        summary = {"TrainingJobName": self.name, "TrainingJobArn": self.arn,
                   "CreationTime": self.created_at, "LastModifiedTime": self.modified_at,
                   "TrainingJobStatus": self.status}
        if self.training_end is not None:
            summary["TrainingEndTime"] = self.training_end
        if self.pool:
            summary["WarmPoolStatus"] = self.pool.describe(now)
        elif self.uses_instances() and self.resources.get("KeepAlivePeriodInSeconds", 0) > 0:
            summary["WarmPoolStatus"] = {"Status": pools.IN_USE}
        return summary

    def describe(self, now):
        description = {key: value for key, value in self.request.items() if key != "Tags"}
        description.update(self.summary(now))
        description["SecondaryStatus"] = self.secondary
        description["SecondaryStatusTransitions"] = self.transitions
        if self.failure_reason:
            description["FailureReason"] = self.failure_reason
        if self.training_start is not None:
            description["TrainingStartTime"] = self.training_start
        if self.training_end is not None:
            description["TrainingTimeInSeconds"] = max(1, int(round(self.training_end - self.training_start)))
            description["BillableTimeInSeconds"] = max(1, int(round(self.billable_s)))
            if self.status != "Failed":
                description["ModelArtifacts"] = {"S3ModelArtifacts": "/".join(
                    [self.request["OutputDataConfig"]["S3OutputPath"].rstrip("/"), self.name,
                     "output/model.tar.gz"])}
        return description
