// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/history/history.hpp"
#include "tuner/loop/study_run.hpp"

namespace steptune {

// Trials that the loop derives from a study's earlier trials, without the searcher. Each function
// returns nullopt if no such trial is to be launched now.

/// Returns a run of the baseline that shows if the machine drifts.
[[nodiscard]] std::optional<TrialRecord> next_sentinel(const StudyRun& run, bool search_is_over);
/// Returns a trial of a configuration that the study file names.
[[nodiscard]] std::optional<TrialRecord> next_hint(const StudyRun& run);
/// Returns a trial that repeats an earlier trial that other programs disturbed.
[[nodiscard]] std::optional<TrialRecord> next_disturbed(const StudyRun& run);
/// Returns a trial of the best configuration with fewer changes from the baseline.
[[nodiscard]] std::optional<TrialRecord> next_reduction(const StudyRun& run);
/// Returns a fresh run that confirms a result of the search.
[[nodiscard]] std::optional<TrialRecord> next_confirmation(const StudyRun& run);

}  // namespace steptune
