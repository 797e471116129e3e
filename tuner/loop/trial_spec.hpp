// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns what the runner starts for this attempt of a trial: the rendered command and
/// environment, the configuration's machines and the study's limits. The command has the paths of
/// copied configuration files (`write_config_copies`), which must exist when it starts. `baseline`:
/// the measured baseline, with which trials in a running program are compared; null until the
/// baseline is measured.
[[nodiscard]] TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial,
                                        const TrialRecord* baseline = nullptr);

/// Returns the file for the events of a trial's hook; empty if its output is not kept.
[[nodiscard]] std::filesystem::path hook_events_path(const TrialRecord& trial);

/// Returns an identity that no other study of this name has (`Runner::begin_study`): its name and
/// the time when its history began. The identity stays the same when a study is continued.
[[nodiscard]] std::string study_identity(const StudyRecord& study);

/// Returns the path of the trial's log: `trial-7.log`, `trial-7.2.log` for the second attempt.
[[nodiscard]] std::filesystem::path trial_log_path(const std::filesystem::path& log_directory,
                                                   std::int64_t number, int attempt);

}  // namespace steptune
