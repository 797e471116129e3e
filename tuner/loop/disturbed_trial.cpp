// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/disturbed_trial.hpp"

#include <algorithm>
#include <vector>

namespace steptune {
namespace {

/// Share of a trial's time in which others used the machine.
constexpr double k_much = 0.2;
constexpr double k_most_share_of_time = 0.1;
constexpr std::size_t k_latest = 12;
constexpr double k_usual_share = 1.0 / 3.0;

double disturbed_share(const TrialRecord& trial) {
  return trial.spent_s > 0.0 ? std::min(1.0, trial.disturbed_s / trial.spent_s) : 0.0;
}

bool is_disturbed(const TrialRecord& trial) {
  return disturbed_share(trial) >= k_much;
}

/// Those of the search that have ended with a value, in order.
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

bool disturbance_is_usual(const std::vector<const TrialRecord*>& measured) {
  const std::size_t count = std::min(k_latest, measured.size());
  const auto disturbed =
      std::count_if(measured.end() - static_cast<std::ptrdiff_t>(count), measured.end(),
                    [](const TrialRecord* trial) { return is_disturbed(*trial); });
  // Of three trials one may be it by chance.
  return static_cast<double>(disturbed) > std::max(1.0, k_usual_share * static_cast<double>(count));
}

struct Repeats {
  double seconds = 0.0;  ///< that they took
  double search_s = 0.0;
};

/// Trials whose configuration had been tried before.
Repeats repeats_of(const Standing& standing) {
  Repeats repeats;
  const auto& trials = standing.trials();
  for (auto trial = trials.begin(); trial != trials.end(); ++trial) {
    if (!is_compared(trial->purpose)) continue;
    repeats.search_s += trial->spent_s;
    if (std::any_of(trials.begin(), trial, [&](const TrialRecord& earlier) {
          return is_compared(earlier.purpose) && earlier.configuration == trial->configuration;
        })) {
      repeats.seconds += trial->spent_s;
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
  if (incumbent == nullptr || !(first.is_time() || first.is_cost())) return nullptr;
  const auto measured = measured_trials(standing);
  const bool is_quiet = !measured.empty() && !is_disturbed(*measured.back());
  if (!is_quiet || disturbance_is_usual(measured)) return nullptr;
  const double to_beat = standing.value(*incumbent, 0);
  const TrialRecord* found = nullptr;
  double found_value = 0.0;
  for (const TrialRecord* trial : measured) {
    if (!is_disturbed(*trial) || trial->purpose == TrialPurpose::baseline) continue;
    if (trial->configuration == incumbent->configuration || tried_again(standing, *trial)) continue;
    const double at_best = standing.value(*trial, 0) * (1.0 - disturbed_share(*trial));
    if (at_best >= to_beat || (found != nullptr && at_best >= found_value)) continue;
    found = trial;
    found_value = at_best;
  }
  if (found == nullptr) return nullptr;
  const Repeats repeats = repeats_of(standing);
  const bool is_payable =
      repeats.seconds + found->spent_s <= k_most_share_of_time * repeats.search_s;
  return is_payable ? found : nullptr;
}

}  // namespace steptune
