// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/judged_commands.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Configurations of a stored study that are compared in fresh runs.
struct JudgedTrials {
  /// Confirms each configuration; the first configuration is its baseline.
  StudySpec study;
  std::vector<std::string> names;     ///< `baseline`, `trial 7`
  std::vector<std::string> settings;  ///< `batch_size=64 workers=2`

  /// Names the commands after the trials.
  void name(JudgedCommands& judged) const;
};

/// Returns the study that compares these trials of a stored study. A single trial is compared with
/// the study's baseline. Takes name, margin, time and slowdown from `request`. Returns `not_found`
/// if there is no such trial. Returns `usage` if two configurations are the same, or if the trials
/// are billed. Also returns `usage` if the hook applies settings that depend on parameters, and the
/// first configuration is not the study's baseline.
[[nodiscard]] Result<JudgedTrials> judged_trials(const StoredStudy& stored,
                                                 const std::vector<std::string>& trials,
                                                 const JudgeRequest& request);

}  // namespace steptune
