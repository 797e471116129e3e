// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/disturbed_runs.hpp"

#include <algorithm>
#include <utility>

namespace steptune {
namespace {

/// Share of a launch's time from which its value depends mostly on other programs.
constexpr double k_much = 0.2;
/// Share of disturbed trials above which disturbance is usual: the undisturbed are then too few.
constexpr double k_usual_share = 1.0 / 3.0;

}  // namespace

double disturbed_share(const TrialRecord& trial) {
  // `disturbed_s` counts the latest attempt only.
  const double attempt_s = trial.ended_wall_s - trial.started_wall_s;
  const double seconds = attempt_s > 0.0 ? attempt_s : latest_attempt_s(trial);
  return seconds > 0.0 ? std::min(1.0, trial.disturbed_s / seconds) : 0.0;
}

bool is_much_disturbed(const TrialRecord& trial) {
  return disturbed_share(trial) >= k_much;
}

bool disturbance_is_usual(const std::vector<const TrialRecord*>& trials) {
  const auto disturbed = std::ranges::count_if(
      trials, [](const TrialRecord* trial) { return is_much_disturbed(*trial); });
  // A single trial may be disturbed by chance.
  return static_cast<double>(disturbed) >
         std::max(1.0, k_usual_share * static_cast<double>(trials.size()));
}

std::vector<const TrialRecord*> without_disturbed(std::vector<const TrialRecord*> trials) {
  if (disturbance_is_usual(trials)) return trials;
  const bool some_left = std::ranges::any_of(
      trials, [](const TrialRecord* trial) { return !is_much_disturbed(*trial); });
  if (!some_left) return trials;
  std::erase_if(trials, [](const TrialRecord* trial) { return is_much_disturbed(*trial); });
  return trials;
}

bool is_of_search_round(const TrialRecord& trial) {
  return !is_confirmation(trial.purpose) && trial.placement.contains(k_interleaved_fact);
}

bool was_in_search_round(const std::vector<TrialRecord>& trials) {
  return std::ranges::any_of(trials, is_of_search_round);
}

bool machine_is_shared(const std::vector<TrialRecord>& trials) {
  if (was_in_search_round(trials)) return true;
  std::size_t measured = 0;
  std::size_t disturbed = 0;
  for (auto trial = trials.rbegin(); trial != trials.rend() && measured < k_latest_trials;
       ++trial) {
    if (!is_compared(trial->purpose) || !was_measured(trial->status)) continue;
    ++measured;
    if (is_much_disturbed(*trial)) ++disturbed;
  }
  return double(disturbed) > k_usual_share * double(measured);
}

}  // namespace steptune
