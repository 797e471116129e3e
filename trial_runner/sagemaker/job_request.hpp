// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/document/fault.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

/// Properties of one job that may differ from other jobs of the study.
struct JobRequest {
  std::string name;
  const TrialSpec& trial;
  int keep_alive_s = 0;  ///< time to keep the warm pool after the job; 0: no pool
  /// Trials to run in turn, `trial` first; empty: only `trial`.
  std::vector<const TrialSpec*> pack{};
  /// The Python hook (`packed_text`), for trials that use it (`python_path`).
  std::string_view hook{};
};

/// Returns the members of `ResourceConfig` that name the machines.
[[nodiscard]] Json machine_members(const Resources& resources);

/// Returns the input of CreateTrainingJob. The trial's argv becomes the container's entry point and
/// arguments, so that the program sees the same words as on this machine. The program runs in the
/// folder of the channel `code` if the settings name one. The trial's parameters become
/// hyperparameters. The trial's environment becomes the job's, with the variable that makes
/// reporters report. Channels follow the order of the settings, then `code`; they name only
/// instance groups of this trial. For a pack, a shell in the container sets each trial's words,
/// parameters and environment (`trial_pack.hpp`). A shell also unpacks the hook
/// (`add_carried_hook`). The environment contains the machines' price (`job_price.hpp`) if there is
/// room.
[[nodiscard]] Json create_training_job_input(const JobSettings& settings,
                                             const JobRequest& request);

/// Returns the faults for which the service would refuse `input`. Checks the API Reference's rules
/// on lengths, counts, characters and settings that exclude each other.
[[nodiscard]] std::vector<document::Fault> training_job_faults(const Json& input);
/// Returns one error that lists all faults.
[[nodiscard]] Result<void> check_training_job_input(const Json& input);

}  // namespace steptune
