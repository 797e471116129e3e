# SPDX-License-Identifier: Apache-2.0
"""Warm pools: reused on an exact match, and billed while they wait."""

AVAILABLE, IN_USE, REUSED, TERMINATED = "Available", "InUse", "Reused", "Terminated"


def match_key(request):
    """Returns everything that two jobs must share so that the second can reuse the first one's instances."""
    resources = request["ResourceConfig"]
    vpc = request.get("VpcConfig", {})
    return (request["RoleArn"], resources.get("InstanceType"), resources.get("InstanceCount"),
            resources.get("VolumeSizeInGB"), resources.get("VolumeKmsKeyId"),
            tuple(sorted(vpc.get("SecurityGroupIds", []))), tuple(sorted(vpc.get("Subnets", []))),
            request.get("EnableInterContainerTrafficEncryption", False),
            request.get("EnableNetworkIsolation", False))


class WarmPool:
    """Instances that a finished job leaves for others. Times are emulated seconds."""

    def __init__(self, job_name, key, instance_type, count, available_at, keep_alive_s):
        self.job_name = job_name
        self.key = key
        self.instance_type = instance_type
        self.count = count
        self.available_at = available_at
        self.expires_at = available_at + keep_alive_s
        self.status = AVAILABLE
        self.ended_at = None
        self.reused_by = None

    def advance(self, now):
        if self.status == AVAILABLE and now >= self.expires_at:
            self._end(TERMINATED, self.expires_at)

    def set_keep_alive(self, seconds, now):
        self.expires_at = self.available_at + seconds
        if self.expires_at <= now:
            self._end(TERMINATED, now)

    def take(self, job_name, now):
        self.reused_by = job_name
        self._end(REUSED, now)

    def terminate(self, now):
        self._end(TERMINATED, now)

    def _end(self, status, now):
        self.status = status
        self.ended_at = now

    def retained_s(self, now):
        return max(0.0, (self.ended_at if self.ended_at is not None else now) - self.available_at)

    def shown_status(self, now):
        """A pool counts as in use by its old job until it is ready for another one."""
        return IN_USE if self.status == AVAILABLE and now < self.available_at else self.status

    def describe(self, now):
        description = {"Status": self.shown_status(now),
                       "ResourceRetainedBillableTimeInSeconds": int(round(self.retained_s(now)))}
        if self.reused_by:
            description["ReusedByJob"] = self.reused_by
        return description
