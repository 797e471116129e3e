// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/environment.hpp"
#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The configuration to use, where it comes from, and how to start it.
struct BestChoice {
  StudySpec study;
  std::string from_study;  ///< name of the stored study that the trial is of
  std::string asked_of;    ///< name of the study of which `best` and `exec` choose it
  TrialRecord trial;
  std::optional<Recommendation> recommendation;  ///< if the trial is the recommended one
  /// With the thread counts that the trial ran under: without them the long run is not what was
  /// measured.
  RenderedCommand command;
  std::string objective;  ///< that it was asked to be best in; empty: the recommendation
};

/// The variables that a long run of this configuration wants: the study's, and what brings the hook
/// in, if there is anything to put into the program or `reports` asks it for progress. `inherited`:
/// this program's environment.
[[nodiscard]] Result<std::map<std::string, std::string>> long_run_variables(
    const BestChoice& choice, const Environment& inherited, bool reports);

/// The recommended trial, or the best of `objective`. With an empty `objective`, what the latest
/// night of `retune` has put in its place, if any has.
[[nodiscard]] Result<BestChoice> choose_best(const StoredStudy& study,
                                             const std::string& objective);
/// The trial of that number; 0: the recommended one.
[[nodiscard]] Result<BestChoice> choose_trial(const StoredStudy& study, std::int64_t number);

}  // namespace steptune
