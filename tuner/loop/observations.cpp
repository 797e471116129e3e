// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/observations.hpp"

#include <algorithm>
#include <cmath>

#include "common/interval.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {
namespace {

/// A trial whose peak share of a GPU's memory is above this value computes on that GPU.
constexpr double k_least_gpu_share = 0.01;

ObservationKind kind_of(TrialStatus status) {
  switch (status) {
    case TrialStatus::completed:
      return ObservationKind::complete;
    case TrialStatus::stopped_early:
      return ObservationKind::partial;
    case TrialStatus::infeasible:
      return ObservationKind::infeasible;
    case TrialStatus::out_of_memory:
      return ObservationKind::out_of_memory;
    default:
      return ObservationKind::failed;
  }
}

/// Returns the machine level to remove from this objective's values.
MachineLevel level_for(const Objective& objective, const MachineLevel& level) {
  return objective.is_timed() ? level : MachineLevel{};
}

}  // namespace

bool prices_in_money(const StudySpec& study) {
  return study.budget.cost_usd && !study.budget.time_s;
}

Observation to_observation(const StudySpec& study, const TrialRecord& trial,
                           const LaunchVariation& launches) {
  Observation observation;
  observation.trial = trial.number;
  observation.configuration = trial.configuration;
  observation.kind = kind_of(trial.status);
  observation.peak_memory_bytes = trial.peak_memory_bytes;
  // If the trial uses GPUs, declared memory terms describe the GPUs' memory.
  const bool has_gpu = trial.gpu && trial.gpu->most_other_processes == 0 &&
                       trial.gpu->peak_memory_share > k_least_gpu_share;
  if (has_gpu && !study.search.memory_terms.empty()) {
    observation.peak_memory_bytes = trial.gpu->peak_memory_bytes;
    observation.memory_limit_bytes = trial.gpu->peak_memory_bytes / trial.gpu->peak_memory_share;
  }
  if (observation.kind == ObservationKind::failed ||
      observation.kind == ObservationKind::out_of_memory) {
    return observation;
  }
  const bool has_values =
      trial.objectives.size() == study.objectives.size() && all_finite(trial.objectives);
  if (!has_values) {
    // The trial ran, but its speed is unknown. For the search, that is no better than a failure.
    if (is_ranked(trial.status)) observation.kind = ObservationKind::failed;
    return observation;
  }
  for (std::size_t index = 0; index < trial.objectives.size(); ++index) {
    const Objective& objective = study.objectives[index];
    const MachineLevel level = level_for(objective, trial.level);
    const double value = without_drift(trial.objectives[index], level);
    observation.values.push_back(to_minimized(objective, value));
    double error = without_drift(error_among_launches(trial, index, launches), level);
    if (error > 0.0) error = std::hypot(error, level.standard_error * value);
    observation.standard_errors.push_back(std::isfinite(error) ? error : 0.0);
  }
  observation.milestones = trial.milestones;
  if (observation.kind == ObservationKind::partial && trial.measurement) {
    const double steps = std::max(1.0, trial.measurement->window_steps);
    observation.fidelity = std::min(1.0, steps / study.search.max_steps);
  }
  return observation;
}

TrialEstimate to_estimate(const StudySpec& study, std::int64_t trial, double resource,
                          std::span<const MeasuredValue> objectives, const MachineLevel& level) {
  TrialEstimate estimate{trial, resource, {}, {}};
  for (std::size_t index = 0; index < objectives.size(); ++index) {
    const Objective& objective = study.objectives[index];
    const MachineLevel drift = level_for(objective, level);
    const double value = without_drift(objectives[index].value, drift);
    double error = without_drift(
        error_among_launches(objectives[index].value, objectives[index].error, LaunchVariation{}),
        drift);
    if (error > 0.0) error = std::hypot(error, drift.standard_error * value);
    estimate.values.push_back(to_minimized(objective, value));
    estimate.half_widths.push_back(k_z_95 * error);
  }
  return estimate;
}

std::vector<TrialEstimate> compared_estimates(const StudySpec& study, const TrialRecord& trial) {
  std::vector<TrialEstimate> estimates;
  if (!is_compared(trial.purpose) || !is_ranked(trial.status) || !trial.measurement ||
      trial.objectives.empty()) {
    return estimates;
  }
  for (const auto* points : {&trial.milestones, &trial.rungs}) {
    for (const Milestone& point : *points) {
      TrialEstimate estimate{
          trial.number, point.fidelity * study.search.max_steps, point.values, {}};
      for (const double error : point.standard_errors)
        estimate.half_widths.push_back(k_z_95 * error);
      estimates.push_back(std::move(estimate));
    }
  }
  std::ranges::stable_sort(estimates, {}, &TrialEstimate::resource);
  std::vector<MeasuredValue> objectives;
  for (std::size_t index = 0; index < trial.objectives.size(); ++index)
    objectives.push_back({trial.objectives[index], trial.standard_errors[index]});
  estimates.push_back(
      to_estimate(study, trial.number, trial.measurement->window_steps, objectives, trial.level));
  return estimates;
}

SchedulerOptions scheduler_options(const StudySpec& study) {
  return {study.search.eta, study.search.min_steps, study.search.max_steps};
}

}  // namespace steptune
