// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/job_validation.hpp"

#include <fmt/format.h>

#include "trial_runner/sagemaker/job_request.hpp"

namespace steptune::simulated {
namespace {

constexpr const char* k_required[] = {
    "/TrainingJobName",
    "/RoleArn",
    "/AlgorithmSpecification/TrainingInputMode",
    "/OutputDataConfig/S3OutputPath",
    "/ResourceConfig/VolumeSizeInGB",
    "/StoppingCondition/MaxRuntimeInSeconds",
};

ServiceError input_error(std::string message) {
  return {"ValidationException", std::move(message)};
}

}  // namespace

std::optional<ServiceError> training_job_fault(const Json& input) {
  for (const char* pointer : k_required) {
    if (!input.contains(Json::json_pointer(pointer))) {
      return input_error(
          fmt::format("1 validation error detected: Value null at '{}' failed to "
                      "satisfy constraint: Member must not be null",
                      pointer));
    }
  }
  const Json& resources = input["ResourceConfig"];
  const bool groups = resources.contains("InstanceGroups");
  if (groups && (resources.contains("InstanceType") || resources.contains("InstanceCount"))) {
    return input_error("InstanceType or InstanceCount cannot be specified with InstanceGroups");
  }
  if (!groups && !resources.contains("InstanceType")) {
    return input_error("InstanceType is required");
  }
  if (input["StoppingCondition"].contains("MaxWaitTimeInSeconds") &&
      !input.value("EnableManagedSpotTraining", false)) {
    return input_error(
        "Invalid MaxWaitTimeInSeconds. It is only supported when EnableManagedSpotTraining is set "
        "to true");
  }
  if (const auto checked = check_training_job_input(input); !checked) {
    return input_error(fmt::format("1 validation error detected: {}", checked.error().message));
  }
  return std::nullopt;
}

}  // namespace steptune::simulated
