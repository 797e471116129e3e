# SPDX-License-Identifier: Apache-2.0
"""Request rates and instance quotas of the emulated account."""

from errors import ServiceError

# Account-wide requests per second, not adjustable (AWS General Reference, SageMaker quotas).
REQUESTS_PER_SECOND = {
    "CreateTrainingJob": 1, "StopTrainingJob": 1, "UpdateTrainingJob": 1, "DeleteTrainingJob": 1,
    "DescribeTrainingJob": 5, "ListTrainingJobs": 2, "FilterLogEvents": 10, "GetLogEvents": 10,
    "DescribeLogStreams": 25,
}


class RequestRates:
    """A token bucket per operation, with one second's worth of tokens. Rates are per second of `clock`. The
    emulator gives it a clock of real time, since the API's limits stay the same when the jobs' time is compressed."""

    def __init__(self, clock):
        self._clock = clock
        self._buckets = {}
        self.refused = {}

    def admit(self, operation):
        rate = REQUESTS_PER_SECOND.get(operation)
        if rate is None:
            return
        now = self._clock.now()
        tokens, updated = self._buckets.get(operation, (float(rate), now))
        tokens = min(float(rate), tokens + (now - updated) * rate)
        if tokens < 1.0:
            self._buckets[operation] = (tokens, now)
            self.refused[operation] = self.refused.get(operation, 0) + 1
            raise ServiceError("ThrottlingException", "Rate exceeded")
        self._buckets[operation] = (tokens - 1.0, now)


class Quotas:
    """Instances per type, for training (jobs and warm pools together) and for warm pools."""

    def __init__(self, training, warm_pool):
        self._training = training
        self._warm_pool = warm_pool

    def training(self, instance_type):
        return self._training.get(instance_type, self._training.get("*", 4))

    def warm_pool(self, instance_type):
        return self._warm_pool.get(instance_type, self._warm_pool.get("*", 0))


def quota_exceeded(instance_type, limit, used, delta):
    return ServiceError(
        "ResourceLimitExceeded",
        f"The account-level service limit '{instance_type} for training job usage' is {limit} Instances, "
        f"with current utilization of {used} Instances and a request delta of {delta} Instances. "
        "Please contact AWS support to request an increase for this limit.")
