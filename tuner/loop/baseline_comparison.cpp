// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/baseline_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/interval.hpp"
#include "tuner/loop/enough_measured.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Number of standard errors by which a trial must be slower to be ended early. The trial's window
/// is still short, so its standard error may be too small.
constexpr double k_errors_apart = 4.0;

}  // namespace

Measurement compared_with_baseline(const TrialView& trial, Measurement measurement) {
  const Measurement* other = trial.baseline_measurement();
  if (!follows_first_trial(trial.record.purpose) || other == nullptr ||
      !std::isfinite(measurement.step_seconds_per_sample)) {
    return measurement;
  }
  const bool baseline_stalls =
      std::ranges::any_of(other->phases, [](const auto& phase) { return is_stall(phase.first); });
  if (baseline_stalls) return measurement;
  std::erase_if(measurement.phases, [&](const auto& phase) {
    const double period = samples_between(phase.second);
    return is_stall(phase.first) && other->total_samples < k_periods_to_miss * period;
  });
  return measurement;
}

tl::expected<std::vector<MeasuredValue>, std::string> objectives_so_far(const TrialView& trial) {
  return objective_values(trial.study, compared_with_baseline(trial, trial.measurement()),
                          trial.usd_per_hour, trial.baseline_measurement());
}

TrialEstimate estimate_so_far(const TrialView& trial, std::span<const MeasuredValue> objectives) {
  return to_estimate(trial.study, trial.record.number, trial.measurement().window_steps, objectives,
                     trial.record.level);
}

bool is_clearly_slower(const TrialView& trial) {
  const TrialTargets& targets = trial.targets;
  const Measurement& current = trial.measurement();
  const bool in_turns = trial.takes_turns();
  const bool too_short = !in_turns && (current.window_steps < k_least_observed_steps ||
                                       current.window_s < targets.measure.min_window_s);
  if (!targets.to_beat || !is_searched(trial.record.purpose) ||
      trial.study.objectives.size() != 1 || !all_timed(trial.study) || too_short) {
    return false;
  }
  const auto objectives = objectives_so_far(trial);
  if (!objectives) return false;
  const TrialEstimate estimate = estimate_so_far(trial, *objectives);
  // A trial in turns has a reliable interval after the first turns. Any other trial needs a larger
  // margin (`k_errors_apart`).
  const double apart = (in_turns ? 1.0 : k_errors_apart / k_z_95) * estimate.half_widths[0];
  // Turns measure a ratio, whose interval is symmetric on a logarithmic scale.
  return (in_turns ? estimate.values[0] * std::exp(-apart / estimate.values[0])
                   : estimate.values[0] - apart) > *targets.to_beat;
}

std::optional<std::string> unlike_batch(const TrialView& trial, const Measurement& measurement) {
  if (runs_baseline(trial.record.purpose) || trial.baseline == nullptr ||
      measurement.samples_reported.value_or(true)) {
    return std::nullopt;
  }
  TrialRecord measured = trial.record;
  measured.measurement = measurement;
  const auto effect = batch_effect(trial.study, measured, *trial.baseline, trial.targets.launches,
                                   &trial.reports.hook());
  return effect ? why_not_applied(*effect, trial.targets.batch_applied) : std::nullopt;
}

}  // namespace steptune
