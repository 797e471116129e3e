// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

/// What differs from job to job.
struct JobRequest {
  std::string name;
  const TrialSpec& trial;
  Resources resources;
  int keep_alive_s = 0;  ///< of the warm pool after the job; 0: none
};

/// The input of CreateTrainingJob. The trial's argv becomes the container's entry point and
/// arguments, so that the program sees the same words as on this machine; its parameters are the
/// hyperparameters; its environment the job's.
[[nodiscard]] Json create_training_job_input(const JobSettings& settings,
                                             const JobRequest& request);

/// Everything that the service would refuse about `input`, found before anything is paid for:
/// lengths, counts, characters and exclusive settings of the API Reference. The error lists every
/// fault with the JSON pointer into the input.
[[nodiscard]] Result<void> check_training_job_input(const Json& input);

}  // namespace steptune
