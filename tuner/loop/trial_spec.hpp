// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What the runner is to start for this attempt of a trial: command and environment rendered, with
/// the paths of its copies of configuration files (`write_config_copies`), which must be there
/// then, machines of the configuration, limits of the study. `baseline`: the study's as measured,
/// which trials in a running program are compared with; null before that.
[[nodiscard]] TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial,
                                        const TrialRecord* baseline = nullptr);

/// True if the study's trials are measured in a program that runs already: they pay no start-up.
[[nodiscard]] bool shares_running_program(const StudySpec& study);

/// Where a trial's hook tells its events; empty where its output is not kept.
[[nodiscard]] std::filesystem::path hook_events_path(const TrialRecord& trial);

/// What tells this study from all others of its name (`Runner::begin_study`): its name and
/// the moment when its history began, which no continuation changes.
[[nodiscard]] std::string study_identity(const StudyRecord& study);

/// `trial-7.log`, `trial-7.2.log` for the second attempt.
[[nodiscard]] std::filesystem::path trial_log_path(const std::filesystem::path& log_directory,
                                                   std::int64_t number, int attempt);

}  // namespace steptune
