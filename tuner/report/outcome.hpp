// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tuner/report/objective_view.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Result of a study. The report has a different sentence and next step for each value. Scripts
/// read the names, so they must not change.
enum class StudyOutcome {
  faster,         ///< confirmed by fresh launches
  within_limits,  ///< today's settings violate a limit; the recommended configuration does not
  unconfirmed,    ///< best of the search; no fresh launch has confirmed it
  undecided,      ///< the time was too short to decide
  baseline_only,  ///< the time was too short for any other configuration
  /// Faster in the measured window, but a full data buffer may hide a slower loader.
  hidden_by_buffer,
  not_faster,       ///< fresh launches settled that nothing is better
  failed_again,     ///< the best of the search failed in a fresh launch
  nothing_faster,   ///< the search found nothing better
  nothing_to_gain,  ///< no configuration can gain enough to be worth a change (`--worth`)
  not_compared,     ///< today's settings could not be measured
};
[[nodiscard]] std::string to_text(StudyOutcome outcome);

/// Returns the outcome. `others_measured` is false if only the baseline was measured.
[[nodiscard]] StudyOutcome outcome_of(const Recommendation& recommendation, bool others_measured);

/// True if the recommended configuration differs from today's.
[[nodiscard]] bool changes_settings(StudyOutcome outcome);

/// Returns the finalist that the outcome's sentence describes; null if there is none.
[[nodiscard]] const FinalistResult* finalist_behind(const Recommendation& recommendation,
                                                    StudyOutcome outcome);

/// True if the 95 % interval is narrow enough to plan with. Its ends then differ by at most a
/// factor of two. A wider interval means that the gain may be wrong by more than a factor of 1.4.
[[nodiscard]] bool is_useful_interval(const SpeedUp& speed_up);

/// Returns `2.13 times as fast`, `46 % cheaper`, `1.30 times as good in accuracy`.
[[nodiscard]] std::string comparison_text(double ratio, const Objective& objective);
/// Returns `95 % interval 2.05-2.21`; empty if there is no interval. For the cost, the numbers are
/// percentages.
[[nodiscard]] std::string interval_text(const SpeedUp& speed_up, const Objective& objective);
/// Returns `2.13 times as fast (95 % interval 2.05-2.21, 9 launches each)`. If `attached`, the runs
/// were turns within a long run.
[[nodiscard]] std::string speed_up_text(const SpeedUp& speed_up, const Objective& objective,
                                        bool attached);

/// A sentence in two parts, without a full stop.
struct VerdictSentence {
  std::string verdict;   ///< `2.13 times as fast`
  std::string evidence;  ///< `95 % interval 2.05-2.21, 9 launches each`; empty if there is none
};
[[nodiscard]] VerdictSentence verdict_sentence(const Recommendation& recommendation,
                                               StudyOutcome outcome, const Objective& objective,
                                               bool attached);
/// Returns `verdict (evidence)`.
[[nodiscard]] std::string to_text(const VerdictSentence& sentence);

}  // namespace steptune
