// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

/// Why the service would refuse this CreateTrainingJob before looking at the account: what is
/// missing, exclusive settings in its own words, and everything that `check_training_job_input`
/// knows. Throws Json::exception where a value has the wrong type.
[[nodiscard]] std::optional<ServiceError> training_job_fault(const Json& input);

}  // namespace steptune::simulated
