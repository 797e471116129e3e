// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
  int keep_alive_s = 0;                  ///< of the warm pool after the job; 0: none
  std::vector<const TrialSpec*> pack{};  ///< what it runs in turn, `trial` first; empty: that alone
  /// PyTorch's hook (`packed_text`), where trials have one (`python_path`).
  std::string_view hook{};
};

/// The input of CreateTrainingJob. The trial's argv becomes the container's entry point and
/// arguments, so that the program sees the same words as on this machine, in the folder of the
/// channel `code` where settings name one; its parameters are the hyperparameters; its environment,
/// and what makes reporters report, the job's. Channels come in the order of the settings, `code`
/// last; what they say of instance groups that this trial does not have is left out. A pack's
/// trials have their words, parameters and environments from a shell in the container
/// (`trial_pack.hpp`), and so is the hook unpacked (`carried_hook.hpp`). What the
/// machines cost is in the environment (`job_price.hpp`) where that has room.
[[nodiscard]] Json create_training_job_input(const JobSettings& settings,
                                             const JobRequest& request);

/// Something that the service would refuse, and its JSON pointer into the input.
struct JobFault {
  std::string pointer;
  std::string message;
};
/// Everything that the service would refuse about `input`, found before anything is paid for:
/// lengths, counts, characters and exclusive settings of the API Reference.
[[nodiscard]] std::vector<JobFault> training_job_faults(const Json& input);
/// The same as one error that lists every fault.
[[nodiscard]] Result<void> check_training_job_input(const Json& input);

}  // namespace steptune
