// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/leaderboard.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/report/study_analysis.hpp"
#include "tuner/report/trial_command.hpp"

namespace steptune {

/// Everything that is told of a whole study.
struct StudyReport {
  Leaderboard board;                     ///< all trials, whatever their state
  std::optional<std::int64_t> baseline;  ///< number of the trial that others are compared with
  std::optional<Recommendation> recommendation;
  RecommendationContext words;
  std::optional<TrialCommand> command;  ///< of the recommended trial; nothing where it was replayed
  std::optional<StudyAnalysis> analysis;
  std::string no_analysis;              ///< why there is none
  std::vector<SessionRecord> sessions;  ///< with the libraries that a baseline told of in each
  std::vector<UnusedTime> unused;  ///< in which machines were kept; theirs is the study's overhead
  /// All that the tuning cost so far: trials, that overhead, and the time between trials on the
  /// tuner's own machine, where that has a price. 0 without prices.
  double tuning_usd = 0.0;
  std::vector<StudyDecision> decisions;       ///< about the study as a whole
  std::map<std::int64_t, TrialTrace> traces;  ///< by trial; thinned where there are many
  /// Launches of the trials that were launched more than once.
  std::map<std::int64_t, std::vector<AttemptRecord>> attempts;
};

/// Reads all of a study; traces are thinned to 60 000 points together, or to 40 each where trials
/// are very many. What was used of machines without a price is told from the trials, whatever
/// `words` have of it. Errors as `stored_recommendation`, and the history's; without an analysis it
/// says why (`no_analysis`).
[[nodiscard]] Result<StudyReport> read_study_report(const StoredStudy& study,
                                                    const RecommendationContext& words);

}  // namespace steptune
