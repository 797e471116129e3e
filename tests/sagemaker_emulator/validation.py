# SPDX-License-Identifier: Apache-2.0
"""Validates requests and answers against botocore's own service models, with patterns and enums, and adds rules that
the service applies beyond its model."""

import re

import botocore.session
import botocore.validate

from errors import ServiceError, validation

MAX_KEEP_ALIVE_S = 21600  # newer models than Debian's allow six hours


class ModelValidator:
    def __init__(self, service):
        self._model = botocore.session.get_session().get_service_model(service)

    def check(self, operation, request):
        if operation not in self._model.operation_names:
            raise ServiceError("UnknownOperationException", f"Unknown operation {operation}")
        faults = self._faults(self._model.operation_model(operation).input_shape, request)
        if faults:
            plural = "s" if len(faults) > 1 else ""
            raise validation(f"{len(faults)} validation error{plural} detected: " + "; ".join(faults))

    def faults_of_answer(self, operation, answer):
        shape = self._model.operation_model(operation).output_shape
        if shape is None:
            return [] if answer is None else ["an answer is not expected"]
        answer = dict(answer or {})
        # The emulator leaves out this required member until a job has a model, so that no client relies on it.
        if "ModelArtifacts" in shape.members:
            answer.setdefault("ModelArtifacts", {"S3ModelArtifacts": "s3://bucket/model"})
        return self._faults(shape, answer)

    def _faults(self, shape, value):
        faults = []
        if shape is not None:
            self._walk(shape, value, "", faults)
            report = botocore.validate.ParamValidator().validate(value, shape)
            if report.has_errors():
                faults += [line for line in report.generate_report().splitlines() if line not in faults]
        return faults

    def _walk(self, shape, value, path, faults):
        kind = shape.type_name
        where = path or "input"
        expected = {"structure": dict, "map": dict, "list": list, "string": str, "boolean": bool}.get(kind)
        if expected and not isinstance(value, expected):
            faults.append(f"Value at '{where}' failed to satisfy constraint: Member must be a {kind}")
            return
        if kind == "structure":
            for name in shape.required_members:
                if name not in value:
                    faults.append(f"Value null at '{self._join(path, name)}' failed to satisfy constraint: "
                                  "Member must not be null")
            for name, member in value.items():
                if name not in shape.members:
                    faults.append(f"Value at '{self._join(path, name)}' failed to satisfy constraint: "
                                  "Unknown member")
                else:
                    self._walk(shape.members[name], member, self._join(path, name), faults)
        elif kind == "list":
            self._bounds(shape, len(value), where, "length", faults)
            for index, member in enumerate(value):
                self._walk(shape.member, member, f"{path}.{index + 1}.member", faults)
        elif kind == "map":
            self._bounds(shape, len(value), where, "length", faults)
            for key, member in value.items():
                self._walk(shape.key, key, f"{path}.key", faults)
                self._walk(shape.value, member, f"{path}.{key}", faults)
        elif kind == "string":
            self._string(shape, value, where, faults)
        elif kind in ("integer", "long", "float", "double", "timestamp"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                faults.append(f"Value at '{where}' failed to satisfy constraint: Member must be a number")
            else:
                self._bounds(shape, value, where, "value", faults)

    def _string(self, shape, value, where, faults):
        # Instance types newer than Debian's model are accepted.
        if shape.enum and value not in shape.enum and not value.startswith("ml."):
            faults.append(f"Value '{value}' at '{where}' failed to satisfy constraint: "
                          f"Member must satisfy enum value set: [{', '.join(shape.enum)}]")
        pattern = shape.metadata.get("pattern")
        if pattern and not re.fullmatch(self._python_pattern(pattern), value, re.DOTALL):
            faults.append(f"Value '{value}' at '{where}' failed to satisfy constraint: "
                          f"Member must satisfy regular expression pattern: {pattern}")
        self._bounds(shape, len(value), where, "length", faults)

    @staticmethod
    def _python_pattern(pattern):
        return pattern.replace(r"\p{L}", r"\w").replace(r"\p{Z}", r"\s").replace(r"\p{N}", r"\d")

    @staticmethod
    def _bounds(shape, number, where, what, faults):
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if shape.name == "KeepAlivePeriodInSeconds":
            high = MAX_KEEP_ALIVE_S
        if low is not None and number < low:
            faults.append(f"Value at '{where}' failed to satisfy constraint: Member must have {what} "
                          f"greater than or equal to {low}")
        if high is not None and number > high:
            faults.append(f"Value at '{where}' failed to satisfy constraint: Member must have {what} "
                          f"less than or equal to {high}")

    @staticmethod
    def _join(path, name):
        camel = name[:1].lower() + name[1:]
        return f"{path}.{camel}" if path else camel


def check_training_job(request):
    """Applies the service's rules that are not in the model."""
    resources = request["ResourceConfig"]
    groups = resources.get("InstanceGroups")
    spot = request.get("EnableManagedSpotTraining", False)
    keep_alive = resources.get("KeepAlivePeriodInSeconds", 0)
    stopping = request["StoppingCondition"]
    if groups and ("InstanceType" in resources or "InstanceCount" in resources):
        raise validation("InstanceType or InstanceCount cannot be specified with InstanceGroups")
    if not groups and "InstanceType" not in resources:
        raise validation("InstanceType is required")
    if keep_alive and groups:
        raise validation("KeepAlivePeriodInSeconds is not supported with InstanceGroups")
    if keep_alive and spot:
        raise validation("KeepAlivePeriodInSeconds is not supported with EnableManagedSpotTraining")
    if "MaxWaitTimeInSeconds" in stopping and not spot:
        raise validation("Invalid MaxWaitTimeInSeconds. It is only supported when "
                         "EnableManagedSpotTraining is set to true")
    if spot and stopping.get("MaxWaitTimeInSeconds", 0) < stopping.get("MaxRuntimeInSeconds", 86400):
        raise validation("Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal "
                         "to MaxRuntimeInSeconds")
    algorithm = request["AlgorithmSpecification"]
    if ("TrainingImage" in algorithm) == ("AlgorithmName" in algorithm):
        raise validation("You must specify either TrainingImage or AlgorithmName")
    names = {group["InstanceGroupName"] for group in groups or []}
    assigned, unassigned = [], []
    for channel in request.get("InputDataConfig", []):
        used = channel["DataSource"].get("S3DataSource", {}).get("InstanceGroupNames", [])
        (assigned if used else unassigned).append(channel["ChannelName"])
        if set(used) - names:
            raise validation(f"Unknown instance group in channel {channel['ChannelName']}")
    if assigned and unassigned:
        raise validation(f"Some channels have assigned instance groups: [{', '.join(assigned)}] "
                         f"while others not: [{', '.join(unassigned)}]")
