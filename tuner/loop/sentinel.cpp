// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/sentinel.hpp"

#include <algorithm>

#include "trial_runner/measure/half_widths.hpp"

namespace steptune {
namespace {

/// Number of search trials before the first sentinel. Half of it is the least number between two
/// sentinels if the machine drifts, and after the search.
constexpr int k_first_after = 10;
/// If the machine drifts, and after the search, a sentinel is due after a fifth of all search
/// trials.
constexpr int k_gaps = 5;

struct SentinelCount {
  int searched = 0;       ///< started search trials
  int before_latest = 0;  ///< search trials before the latest sentinel
  int ended = 0;          ///< ended sentinels
  bool is_open = false;   ///< a sentinel is under way
  double searched_s = 0.0;
  double sentinels_s = 0.0;
};

SentinelCount count_sentinels(const Standing& standing) {
  SentinelCount count;
  for (const TrialRecord& trial : standing.trials()) {
    if (trial.purpose == TrialPurpose::sentinel) {
      count.before_latest = count.searched;
      count.sentinels_s += latest_attempt_s(trial);
      count.ended += is_final(trial.status) ? 1 : 0;
      count.is_open = count.is_open || !is_final(trial.status);
    } else if (is_compared(trial.purpose)) {
      count.searched += trial.purpose == TrialPurpose::baseline ? 0 : 1;
      count.searched_s += is_final(trial.status) ? latest_attempt_s(trial) : 0.0;
    }
  }
  return count;
}

double expected_s(const SentinelCount& count, const StudySpec& study, const Standing& standing) {
  if (count.ended > 0) return count.sentinels_s / count.ended;
  const auto mean = standing.mean_price(study.measure);
  return mean ? mean->seconds : 0.0;
}

int trials_between(const SentinelCount& count, bool drifts, bool search_is_over) {
  if (drifts || search_is_over) return std::max(k_first_after / 2, count.searched / k_gaps);
  return std::max(k_first_after, count.before_latest);
}

}  // namespace

bool sentinel_is_due(const StudySpec& study, const Standing& standing, bool search_is_over) {
  const Objective& first = study.objectives.front();
  if (!study.measure.sentinels || !first.is_timed()) return false;
  const SentinelCount count = count_sentinels(standing);
  if (standing.baseline() == nullptr || count.is_open || count.searched < k_first_after) {
    return false;
  }
  const bool drifts = standing.drift().is_significant();
  if (count.searched - count.before_latest < trials_between(count, drifts, search_is_over)) {
    return false;
  }
  const double share = drifts || search_is_over ? k_most_share_for_repeats : k_share_for_baseline;
  return count.sentinels_s + expected_s(count, study, standing) <= share * count.searched_s;
}

double expected_sentinel_s(const StudySpec& study, const Standing& standing) {
  return expected_s(count_sentinels(standing), study, standing);
}

MeasureSpec sentinel_measure(MeasureSpec measure) {
  // Launches differ by about this half-width, so a smaller one would show nothing more.
  measure.target_half_width = std::max(measure.target_half_width, k_usual_half_width);
  measure.max_trial_s = std::max(0.5 * measure.max_trial_s, measure.min_window_s);
  return measure;
}

}  // namespace steptune
