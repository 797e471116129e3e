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

/// Data of a whole study that pages and exports show.
struct StudyContents {
  Leaderboard board;  ///< all trials in any state
  std::optional<Recommendation> recommendation;
  RecommendationContext words;  ///< `study_context` and facts about the recommendation
  /// Runs of the tuner, with the libraries that their baselines reported.
  std::vector<SessionRecord> sessions;
  std::vector<StudyDecision> decisions;  ///< decisions about the whole study, not about one trial
};
/// Reads the contents. `standing` has all trials of the study (`read_whole_standing`). `words` is
/// the result of `study_context`. Computes the machine-hours of machines without a price from the
/// trials.
[[nodiscard]] Result<StudyContents> read_study_contents(const StoredStudy& study,
                                                        RecommendationContext words,
                                                        Standing standing);

/// Data of a report about a whole study.
struct StudyReport : StudyContents {
  std::optional<std::int64_t> baseline;  ///< number of the baseline trial
  /// Command of the recommended trial; nullopt if it was replayed.
  std::optional<TrialCommand> command;
  std::optional<StudyAnalysis> analysis;
  std::string no_analysis;  ///< why there is no analysis
  /// Times in which machines were kept unused; their cost is the study's overhead.
  std::vector<UnusedTime> unused;
  /// Cost of the tuning so far: trials and overhead. If the tuner's own machine has a price, also
  /// includes the time between trials. 0 without prices.
  double tuning_usd = 0.0;
  /// Traces by trial; with fewer points if there are many trials.
  std::map<std::int64_t, TrialTrace> traces;
  /// Launches of trials that were launched more than once.
  std::map<std::int64_t, std::vector<AttemptRecord>> attempts;
};

/// Reads a whole study. Keeps at most 60 000 points of all traces together, or 40 points of each
/// trace if there are very many trials. Errors are those of `stored_recommendation` and the
/// history. If the analysis fails, `no_analysis` has the reason.
[[nodiscard]] Result<StudyReport> read_study_report(const StoredStudy& study,
                                                    const RecommendationContext& words);

}  // namespace steptune
