// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

/// Returns the error with which the service would refuse this input of CreateTrainingJob in any
/// account; nullopt if there is none. Checks missing members, settings that exclude each other (in
/// the service's words), and all rules of `check_training_job_input`. Throws Json::exception if a
/// value has the wrong type.
[[nodiscard]] std::optional<ServiceError> training_job_fault(const Json& input);

}  // namespace steptune::simulated
