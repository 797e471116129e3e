// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What the runner is to start for this attempt of a trial: command and environment rendered,
/// limits of the study.
[[nodiscard]] TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial);

/// `trial-7.log`, `trial-7.2.log` for the second attempt.
[[nodiscard]] std::filesystem::path trial_log_path(const std::filesystem::path& log_directory,
                                                   std::int64_t number, int attempt);

}  // namespace steptune
