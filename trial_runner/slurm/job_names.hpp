// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/runner.hpp"

namespace steptune::slurm {

/// Of all jobs that this program submits.
inline constexpr std::string_view k_job_prefix = "steptune.";

/// Prefix of the names of a study's jobs: `steptune.resnet-nightly.1a2b3c4d.`
[[nodiscard]] std::string study_prefix(const std::string& study, const std::string& identity);
/// The readable part of a study's name in a job's; nothing for others' jobs.
[[nodiscard]] std::optional<std::string> study_of_job(std::string_view job);

/// Of a trial's step, and of its folder: `t7-a1-l1-0123456789abcdef`. Launches are told apart.
[[nodiscard]] std::string step_name(TrialKey key, int launch, const std::string& word);
/// Whether a step's name is of that form.
[[nodiscard]] bool is_step_name(std::string_view name);
/// The number of the launch; nothing for other trials' names.
[[nodiscard]] std::optional<int> launch_of(std::string_view step_name, TrialKey key);

}  // namespace steptune::slurm
