// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/worth.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "tuner/verdict/setting_changes.hpp"
#include "tuner/verdict/trade_offs.hpp"

namespace steptune {
namespace {

/// Number of parts into which a range is divided if it is continuous or has negative numbers.
constexpr std::uint64_t k_places = 16;

/// True if the values of the trial's settings count as tried. An infeasible configuration counts,
/// too, but not one that was cut off while starting.
bool counts_as_tried(const TrialRecord& trial) {
  return is_compared(trial.purpose) && !trial.awaited_start_s &&
         (is_ranked(trial.status) || trial.status == TrialStatus::infeasible ||
          trial.status == TrialStatus::out_of_memory);
}

bool is_near(double value, double tried, double range) {
  if (value == tried) return true;
  if (value == 0.0 || tried == 0.0) return false;
  if (value < 0.0 || tried < 0.0) return std::abs(value - tried) <= range / double(k_places);
  return std::max(value, tried) <= k_clear_ratio * std::min(value, tried);
}

bool covers_number(const Parameter& parameter, const std::set<Value>& tried) {
  const auto levels = parameter.level_count();
  const bool all = levels && *levels <= 64 * k_places;
  const std::uint64_t places = all ? *levels : k_places + 1;
  for (std::uint64_t i = 0; i < places; ++i) {
    const double value =
        to_number(all ? parameter.level(i) : parameter.at_position(double(i) / double(k_places)));
    const bool near = std::ranges::any_of(tried, [&](const Value& other) {
      return is_near(value, to_number(other), parameter.high - parameter.low);
    });
    if (!near) return false;
  }
  return true;
}

bool covers(const Parameter& parameter, const std::set<Value>& tried) {
  // If only the baseline's value of a setting ran, the setting's effect is unknown.
  const std::uint64_t levels = parameter.level_count().value_or(2);
  if (tried.size() < std::min<std::uint64_t>(levels, 2)) return false;
  const bool is_number =
      parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::floating;
  if (is_number) return covers_number(parameter, tried);
  return tried.size() >= levels;
}

bool covers_all(const StudySpec& study, const Standing& standing) {
  return std::ranges::all_of(study.space.parameters(), [&](const Parameter& parameter) {
    std::set<Value> tried;
    for (const TrialRecord& trial : standing.trials()) {
      const Value* value = trial.configuration.find(parameter.name);
      if (value != nullptr && counts_as_tried(trial)) tried.insert(*value);
    }
    return covers(parameter, tried);
  });
}

/// Returns the highest upper end of the intervals of all single settings' gains.
double most_gain_of_settings(const StudySpec& study, const Standing& standing,
                             std::size_t objective) {
  double most = 0.0;
  const SettingEffects effects(study, standing, objective);
  for (const MeasuredValue& effect : effects.all())
    most = std::max(most, std::expm1(effect.value + k_z_95 * effect.error));
  return most;
}

/// Returns the largest gain in one objective that a trial may have. Stops at the first trial whose
/// gain may reach `search.worth`.
double most_gain_of_trials(const StudySpec& study, const Standing& standing,
                           const Confirmation& confirmation, std::size_t objective) {
  const TrialRecord& baseline = *standing.baseline();
  std::vector<const TrialRecord*> contenders;
  for (const TrialRecord& trial : standing.trials()) {
    const bool measured = is_searched(trial.purpose) && is_ranked(trial.status) &&
                          objective < trial.objectives.size();
    const auto& refuted = standing.refuted();
    const bool may_gain = trial.configuration != baseline.configuration &&
                          std::ranges::find(refuted, trial.configuration) == refuted.end();
    if (measured && may_gain) contenders.push_back(&trial);
  }
  double most = 0.0;
  for (const TrialRecord* trial : contenders) {
    if (!(most < study.search.worth)) break;
    const auto fresh =
        std::ranges::find(confirmation.finalists(), trial->configuration, &Finalist::configuration);
    const bool is_known = objective == 0 && fresh != confirmation.finalists().end() &&
                          std::isfinite(fresh->speed_up.high);
    most = std::max(most, is_known ? fresh->speed_up.high - 1.0
                                   : most_gain_of_trial(standing, *trial, baseline, objective,
                                                        contenders.size() + 1));
  }
  return most;
}

}  // namespace

double most_gain_of_trial(const Standing& standing, const TrialRecord& trial,
                          const TrialRecord& baseline, std::size_t objective,
                          std::size_t candidates) {
  const double value = standing.value(trial, objective);
  const double to_beat = standing.value(baseline, objective);
  const double reach = critical_difference(candidates);
  const double error = reach * standing.error(trial, objective);
  const double baseline_error = reach * standing.error(baseline, objective);
  if (!(value > error) || !(to_beat > 0.0) || !std::isfinite(baseline_error)) return k_infinity;
  // Compute the largest ratio r at which r * value exceeds the baseline's value by no more than
  // their errors.
  const double square = value * value - error * error;
  const double product = value * to_beat;
  const double rest =
      product * product - square * (to_beat * to_beat - baseline_error * baseline_error);
  return (product + std::sqrt(std::max(rest, 0.0))) / square - 1.0;
}

std::optional<double> nothing_to_gain(const StudySpec& study, const Standing& standing,
                                      const Confirmation& confirmation,
                                      std::optional<double> expected_improvement) {
  const double worth = study.search.worth;
  const TrialRecord* baseline = standing.baseline();
  if (!(worth > 0.0) || study.measure.in_use || study.measure.confirm_all || baseline == nullptr ||
      !may_win(standing.rules(), *baseline) || confirmation.winner() != nullptr) {
    return std::nullopt;
  }
  // By Markov's inequality, the searcher's best proposal then gains the worth with a probability of
  // at most `k_error_95`.
  const bool is_modelled = expected_improvement && *expected_improvement <= k_error_95 * worth;
  double most = 0.0;
  for (std::size_t objective = 0; objective < study.objectives.size(); ++objective) {
    most = std::max(most, most_gain_of_trials(study, standing, confirmation, objective));
    if (!(most < worth)) return std::nullopt;
  }
  if (is_modelled) return most;
  if (!covers_all(study, standing)) return std::nullopt;
  for (std::size_t objective = 0; objective < study.objectives.size(); ++objective)
    most = std::max(most, most_gain_of_settings(study, standing, objective));
  return most < worth ? std::optional(most) : std::nullopt;
}

bool may_use_left_time(const StudySpec& study) {
  return study.budget.time_s && !study.budget.time_of_usd &&
         !study.runner->traits().longest_billed_s && study.trials != TrialsIn::attached &&
         !study.measure.in_use;
}

}  // namespace steptune
