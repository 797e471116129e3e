# SPDX-License-Identifier: Apache-2.0
"""The SageMaker operations that a tuner uses, on emulated jobs, pools and quotas."""

import threading

import pools
from errors import ServiceError, not_found, validation
from jobs import TERMINAL, Job
from limits import quota_exceeded
from validation import check_training_job

ACCOUNT = "123456789012"
REGION = "us-east-1"


class SageMaker:
    """All state behind one lock. `tick` is called often and on every request."""

    def __init__(self, clock, root, images, s3, logs, faults, quotas, timing):
        self.clock = clock
        self.root = root
        self.images = images
        self.s3 = s3
        self.logs = logs
        self.faults = faults
        self.quotas = quotas
        self.timing = timing
        self.jobs = {}
        self.pools = []
        self.lock = threading.RLock()
        self._created = {}

    # -- time ------------------------------------------------------------------------------------

    def tick(self):
        with self.lock:
            now = self.clock.now()
            for job in self.jobs.values():
                job.advance(now)
                if job.secondary == "Training":
                    job.sample_cpu(now)
            for pool in self.pools:
                pool.advance(now)

    def leave_pool(self, job, keep_alive_s, now, healthy):
        """Makes a finished job's instances a pool, unless the quota or their health forbid it."""
        instance_type, count = job.instance_counts()[0]
        kept = sum(pool.count for pool in self.pools
                   if pool.status == pools.AVAILABLE and pool.instance_type == instance_type)
        pool = pools.WarmPool(job.name, pools.match_key(job.request), instance_type, count,
                              now + self.timing.pool_ready_s, keep_alive_s)
        job.pool = pool
        if not healthy or kept + count > self.quotas.warm_pool(instance_type):
            # No error is reported: without quota, the answers look the same as with it.
            pool.available_at = now
            pool.terminate(now)
            return
        self.pools.append(pool)
        if self.faults.for_job(job.name, "steal_pool"):
            pool.take("a-strangers-job", pool.available_at)

    def _instances_in_use(self, instance_type, now):
        used = sum(count for job in self.jobs.values() if job.uses_instances()
                   for kind, count in job.instance_counts() if kind == instance_type)
        kept = sum(pool.count for pool in self.pools
                   if pool.status == pools.AVAILABLE and pool.instance_type == instance_type)
        return used, kept

    def shutdown(self):
        with self.lock:
            for job in self.jobs.values():
                job.destroy()

    # -- operations ------------------------------------------------------------------------------

    def handle(self, operation, request):
        handlers = {"CreateTrainingJob": self._create, "DescribeTrainingJob": self._describe,
                    "ListTrainingJobs": self._list, "StopTrainingJob": self._stop,
                    "UpdateTrainingJob": self._update}
        if operation not in handlers:
            raise ServiceError("UnknownOperationException", f"Unknown operation {operation}")
        with self.lock:
            self.tick()
            return handlers[operation](request, self.clock.now())

    def _job(self, request):
        job = self.jobs.get(request["TrainingJobName"])
        if job is None:
            raise not_found()
        return job

    def _create(self, request, now):
        name = request["TrainingJobName"]
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{name}"
        if name in self.jobs:
            raise ServiceError("ResourceInUse", "Training job names must be unique within an AWS account and "
                               f"region, and a training job with this name already exists ({arn})")
        check_training_job(request)
        for channel in request.get("InputDataConfig", []):
            source = channel["DataSource"].get("S3DataSource")
            if source:
                self.s3.check_prefix(source["S3Uri"], request["RoleArn"])
        image = request["AlgorithmSpecification"].get("TrainingImage")
        if image is not None and image not in self.images and \
                not request["AlgorithmSpecification"].get("ContainerEntrypoint"):
            raise validation(f"Cannot find repository: {image}")
        pool = self._matching_pool(request)
        self._check_quota(request, pool, now)
        if pool:
            pool.take(name, now)
        self.jobs[name] = Job(request, arn, now, pool is not None, self)
        return {"TrainingJobArn": arn}

    def _matching_pool(self, request):
        resources = request["ResourceConfig"]
        if resources.get("InstanceGroups") or request.get("EnableManagedSpotTraining"):
            return None
        key = pools.match_key(request)
        now = self.clock.now()
        return next((pool for pool in self.pools if pool.status == pools.AVAILABLE and pool.key == key
                     and pool.available_at <= now), None)

    def _check_quota(self, request, pool, now):
        resources = request["ResourceConfig"]
        groups = resources.get("InstanceGroups") or [resources]
        for group in groups:
            kind, delta = group["InstanceType"], group["InstanceCount"]
            used, kept = self._instances_in_use(kind, now)
            freed = pool.count if pool else 0
            limit = self.quotas.training(kind)
            if used + kept - freed + delta > limit:
                raise quota_exceeded(kind, limit, used + kept, delta)

    def _describe(self, request, now):
        return self._job(request).describe(now)

    def _stop(self, request, now):
        job = self._job(request)
        if job.status in TERMINAL:
            raise validation(f"The request was rejected because the training job is in status {job.status}.")
        if job.status != "Stopping":
            job.stop(now)
        return None

    def _update(self, request, now):
        job = self._job(request)
        keep_alive = request.get("ResourceConfig", {}).get("KeepAlivePeriodInSeconds")
        if keep_alive is None:
            raise validation("Invalid UpdateTrainingJobRequest, the request cannot be empty")
        if job.pool is None or job.pool.shown_status(now) != pools.AVAILABLE:
            raise validation("The warm pool of the training job is not available")
        job.pool.set_keep_alive(keep_alive, now)
        return {"TrainingJobArn": job.arn}

    def _list(self, request, now):
        jobs = [job for job in self.jobs.values()
                if request.get("NameContains", "") in job.name
                and job.created_at > request.get("CreationTimeAfter", 0)
                and job.created_at < request.get("CreationTimeBefore", float("inf"))]
        order = {"Name": lambda job: job.name, "CreationTime": lambda job: job.created_at,
                 "Status": lambda job: job.status}[request.get("SortBy", "CreationTime")]
        jobs.sort(key=order, reverse=request.get("SortOrder", "Ascending") == "Descending")
        start = int(request.get("NextToken", 0))
        size = request.get("MaxResults", 10)
        page = jobs[start:start + size]
        response = {}
        if start + size < len(jobs):
            response["NextToken"] = str(start + size)
        # Status filters apply to the cut page, so a page may be empty and still have a successor.
        status, pool_status = request.get("StatusEquals"), request.get("WarmPoolStatusEquals")
        page = [job for job in page if status in (None, job.status)
                and pool_status in (None, job.summary(now).get("WarmPoolStatus", {}).get("Status"))]
        response["TrainingJobSummaries"] = [job.summary(now) for job in page]
        return response

    # -- for tests -------------------------------------------------------------------------------

    def audit(self):
        """Returns the facts for an independent check: every job and pool, with its billed seconds."""
        with self.lock:
            self.tick()
            now = self.clock.now()
            jobs = [{"name": job.name, "status": job.status, "secondary": job.secondary, "warm": job.warm,
                     "instances": job.instance_counts(), "created_at": job.created_at,
                     "billable_s": job.billable_s, "transitions": job.transitions,
                     "failure_reason": job.failure_reason} for job in self.jobs.values()]
            kept = [{"job": pool.job_name, "status": pool.status, "instance_type": pool.instance_type,
                     "count": pool.count, "retained_s": pool.retained_s(now)} for pool in self.pools]
            return {"now": now, "jobs": jobs, "pools": kept}
