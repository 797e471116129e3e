// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/disturbed_trial.hpp"

#include <algorithm>
#include <vector>

#include "tuner/loop/sentinel.hpp"
#include "tuner/verdict/disturbed_runs.hpp"

namespace steptune {
namespace {

/// Returns the search trials that ended with a value, in order.
std::vector<const TrialRecord*> measured_trials(const Standing& standing) {
  std::vector<const TrialRecord*> measured;
  for (const TrialRecord& trial : standing.trials()) {
    const bool ended =
        trial.status == TrialStatus::completed || trial.status == TrialStatus::stopped_early;
    const bool has_value = trial.measurement && !trial.objectives.empty();
    if (ended && has_value && is_compared(trial.purpose)) measured.push_back(&trial);
  }
  return measured;
}

std::vector<const TrialRecord*> latest(std::vector<const TrialRecord*> trials) {
  const std::size_t old = trials.size() - std::min(k_latest_trials, trials.size());
  trials.erase(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(old));
  return trials;
}

struct Repeats {
  double seconds = 0.0;  ///< time of trials whose configuration had been tried before
  double search_s = 0.0;
};

/// Adds up the time of all search trials, and the time of trials whose configuration had been tried
/// before.
Repeats repeats_of(const Standing& standing) {
  Repeats repeats;
  const auto& trials = standing.trials();
  for (auto trial = trials.begin(); trial != trials.end(); ++trial) {
    if (!is_compared(trial->purpose)) continue;
    repeats.search_s += latest_attempt_s(*trial);
    if (std::any_of(trials.begin(), trial, [&](const TrialRecord& earlier) {
          return is_compared(earlier.purpose) && earlier.configuration == trial->configuration;
        })) {
      repeats.seconds += latest_attempt_s(*trial);
    }
  }
  return repeats;
}

bool tried_again(const Standing& standing, const TrialRecord& trial) {
  return std::ranges::any_of(standing.trials(), [&](const TrialRecord& later) {
    return later.number > trial.number && later.configuration == trial.configuration;
  });
}

}  // namespace

const TrialRecord* trial_to_measure_again(const StudySpec& study, const Standing& standing) {
  const Objective& first = study.objectives.front();
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent == nullptr || !first.is_timed() || study.measure.confirm_all) return nullptr;
  const auto measured = measured_trials(standing);
  const bool is_quiet = !measured.empty() && !is_much_disturbed(*measured.back());
  if (!is_quiet || disturbance_is_usual(latest(measured))) return nullptr;
  const double to_beat = standing.value(*incumbent, 0);
  const TrialRecord* found = nullptr;
  double found_value = 0.0;
  for (const TrialRecord* trial : measured) {
    if (!is_much_disturbed(*trial) || trial->purpose == TrialPurpose::baseline) continue;
    if (trial->configuration == incumbent->configuration || tried_again(standing, *trial)) continue;
    const double at_best = standing.value(*trial, 0) * (1.0 - disturbed_share(*trial));
    if (at_best >= to_beat || (found != nullptr && at_best >= found_value)) continue;
    found = trial;
    found_value = at_best;
  }
  if (found == nullptr) return nullptr;
  const Repeats repeats = repeats_of(standing);
  const bool is_payable =
      repeats.seconds + latest_attempt_s(*found) <= k_most_share_for_repeats * repeats.search_s;
  return is_payable ? found : nullptr;
}

}  // namespace steptune
