// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "common/interval.hpp"
#include "tuner/loop/objectives.hpp"

namespace steptune {
namespace {

using Candidates = std::vector<const TrialRecord*>;

double minimized(const StudySpec& study, const TrialRecord& trial, std::size_t objective) {
  return to_minimized(study.objectives[objective], trial.objectives[objective]);
}

/// Best first; equal values in order of number.
Candidates by_value(const StudySpec& study, Candidates candidates) {
  std::ranges::sort(candidates, {}, [&](const TrialRecord* trial) {
    return std::tuple(minimized(study, *trial, 0), trial->number);
  });
  return candidates;
}

void keep_cheapest(const StudySpec& study, Candidates& candidates) {
  if (study.objectives.size() < 2 || !study.objectives[1].is_cost()) return;
  const auto* const* cheapest = &*std::ranges::min_element(
      candidates, {}, [&](const TrialRecord* trial) { return minimized(study, *trial, 1); });
  const ObjectiveInterval least = objective_interval(study, **cheapest, 1);
  std::erase_if(candidates, [&](const TrialRecord* trial) {
    return !overlap(objective_interval(study, *trial, 1), least);
  });
}

}  // namespace

bool may_win(const StudySpec& study, const TrialRecord& trial) {
  return trial.status == TrialStatus::completed && !is_confirmation(trial.purpose) &&
         trial.objectives.size() == study.objectives.size() && !trial.objectives.empty() &&
         std::ranges::all_of(trial.objectives, [](double value) { return std::isfinite(value); });
}

ObjectiveInterval objective_interval(const StudySpec& study, const TrialRecord& trial,
                                     std::size_t objective) {
  const double value = minimized(study, trial, objective);
  const double half_width = k_z_95 * trial.standard_errors[objective];
  return {value - half_width, value, value + half_width};
}

bool overlap(const ObjectiveInterval& a, const ObjectiveInterval& b) {
  return a.low <= b.high && b.low <= a.high;
}

const TrialRecord* choose_incumbent(const StudySpec& study, const Candidates& candidates) {
  if (candidates.empty()) return nullptr;
  const auto value = [&](const TrialRecord* trial) { return minimized(study, *trial, 0); };
  const TrialRecord* first = *std::ranges::min_element(candidates, {}, value);
  const ObjectiveInterval best = objective_interval(study, *first, 0);
  const double near = best.value + study.measure.target_half_width * std::abs(best.value);
  Candidates preferred;
  for (const TrialRecord* trial : candidates) {
    const ObjectiveInterval interval = objective_interval(study, *trial, 0);
    if (interval.value <= near && overlap(interval, best)) preferred.push_back(trial);
  }
  keep_cheapest(study, preferred);
  const auto batch = [&](const TrialRecord* trial) {
    const auto size = samples_per_step(study, trial->configuration);
    return size && std::isfinite(*size) ? *size : std::numeric_limits<double>::infinity();
  };
  return *std::ranges::min_element(preferred, {}, [&](const TrialRecord* trial) {
    return std::tuple(batch(trial), value(trial), trial->number);
  });
}

std::vector<std::int64_t> tied_with(const StudySpec& study, const TrialRecord& incumbent,
                                    const Candidates& candidates) {
  const ObjectiveInterval best = objective_interval(study, incumbent, 0);
  std::vector<std::int64_t> numbers;
  for (const TrialRecord* trial : by_value(study, candidates)) {
    if (trial->configuration == incumbent.configuration) continue;
    if (overlap(objective_interval(study, *trial, 0), best)) numbers.push_back(trial->number);
  }
  return numbers;
}

std::vector<std::int64_t> pareto_front(const StudySpec& study, const Candidates& candidates) {
  if (study.objectives.size() < 2) return {};
  // Sorted by the first objective, a candidate is dominated exactly if one before it is at least as
  // good in the second.
  Candidates sorted = candidates;
  std::ranges::sort(sorted, {}, [&](const TrialRecord* trial) {
    return std::tuple(minimized(study, *trial, 0), minimized(study, *trial, 1), trial->number);
  });
  std::vector<std::int64_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const TrialRecord* trial : sorted) {
    const double second = minimized(study, *trial, 1);
    if (second >= least_second) continue;
    least_second = second;
    front.push_back(trial->number);
  }
  return front;
}

}  // namespace steptune
