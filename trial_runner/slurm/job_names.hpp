// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/runner.hpp"

namespace steptune::slurm {

/// Prefix of the names of all jobs that this program submits.
inline constexpr std::string_view k_job_prefix = "steptune.";

/// Returns the prefix of the names of a study's jobs: `steptune.resnet-nightly.1a2b3c4d.` It
/// contains the first 24 bytes of the study's name, and a hash of the whole name and `identity` (as
/// in `Runner::begin_study`). Dashes replace characters other than letters, digits, `-` and `_`.
[[nodiscard]] std::string study_prefix(const std::string& study, const std::string& identity);
/// Returns the readable part of the study's name in a job's name; nullopt for names that do not
/// have this form.
[[nodiscard]] std::optional<std::string> study_of_job(std::string_view job);

/// Returns the name of a trial's step and of its folder: `t7-a1-l1-0123456789abcdef` for trial 7,
/// attempt 1, launch 1. `word` makes it unique.
[[nodiscard]] std::string step_name(TrialKey key, int launch, const std::string& word);
/// Returns the trial of a step; nullopt for names of another form.
[[nodiscard]] std::optional<TrialKey> trial_of_step(std::string_view name);
/// Returns the launch number; nullopt if the step is not of this trial and attempt.
[[nodiscard]] std::optional<int> launch_of(std::string_view step_name, TrialKey key);

}  // namespace steptune::slurm
