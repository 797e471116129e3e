// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/ratio_in_turns.hpp"

#include <algorithm>
#include <cmath>

#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/quantiles.hpp"

namespace steptune {
namespace {

/// Returns the samples and seconds between the ends of two turns.
Interval between(const Interval& from, const Interval& to) {
  return {to.samples - from.samples, to.seconds - from.seconds};
}

}  // namespace

std::optional<RatioInTurns> ratio_in_turns(std::span<const Interval> trial,
                                           std::span<const Interval> other) {
  const std::size_t ends = std::min(trial.size(), other.size());
  // The first turn is warm-up. With two further turns, Student's t would have one degree of
  // freedom, and the interval would be three times as wide.
  if (ends < k_min_level_intervals) return std::nullopt;
  const std::size_t warmup = (ends + k_warmup_divisor_in_turns - 1) / k_warmup_divisor_in_turns;
  const std::size_t turns = ends - warmup;
  trial = trial.subspan(warmup - 1, turns + 1);
  other = other.subspan(warmup - 1, turns + 1);
  const Interval of_trial = between(trial.front(), trial.back());
  const Interval of_other = between(other.front(), other.back());
  const bool both_worked = of_trial.samples > 0.0 && of_other.samples > 0.0 &&
                           of_trial.seconds > 0.0 && of_other.seconds > 0.0;
  if (!both_worked) return std::nullopt;
  double squares = 0.0;
  for (std::size_t i = 1; i <= turns; ++i) {
    const Interval its = between(trial[i - 1], trial[i]);
    const Interval others = between(other[i - 1], other[i]);
    const double residual = its.seconds / of_trial.seconds - its.samples / of_trial.samples -
                            others.seconds / of_other.seconds + others.samples / of_other.samples;
    squares += residual * residual;
  }
  const double freedom = static_cast<double>(turns) - 1.0;
  return RatioInTurns{(of_trial.seconds / of_trial.samples) / (of_other.seconds / of_other.samples),
                      std::sqrt(squares * static_cast<double>(turns) / freedom), freedom};
}

void set_time_by_ratio(const RatioInTurns& to_baseline, const Measurement& baseline,
                       Measurement& measurement) {
  const double before_s = measurement.step_seconds_per_sample;
  const double after_s = baseline.step_seconds_per_sample * to_baseline.ratio;
  if (!std::isfinite(before_s) || !std::isfinite(after_s)) return;
  const double of_phases_s =
      std::sqrt(std::max(0.0, measurement.half_width_s * measurement.half_width_s -
                                  measurement.step_half_width_s * measurement.step_half_width_s));
  measurement.step_seconds_per_sample = after_s;
  measurement.step_standard_error_s = after_s * to_baseline.relative_error;
  measurement.step_half_width_s =
      measurement.step_standard_error_s * student_quantile_95(to_baseline.degrees_of_freedom);
  measurement.seconds_per_sample += after_s - before_s;
  measurement.half_width_s = std::isfinite(of_phases_s)
                                 ? std::hypot(measurement.step_half_width_s, of_phases_s)
                                 : measurement.step_half_width_s;
  measurement.slowest_seconds_per_sample =
      std::max(measurement.slowest_seconds_per_sample * after_s / before_s,
               measurement.seconds_per_sample + measurement.half_width_s);
  measurement.status = MeasurementStatus::steady;
  measurement.level_changes.clear();
}

}  // namespace steptune
