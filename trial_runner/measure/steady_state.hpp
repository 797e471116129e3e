// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/numbers.hpp"
#include "trial_runner/measure/level_shift.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/measure/phase_log.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Estimate of the long run from a series of intervals.
struct SteadyState {
  MeasurementStatus status = MeasurementStatus::no_reports;
  double seconds_per_sample = k_nan;
  double half_width_s = k_infinity;
  double step_seconds_per_sample = k_nan;
  double step_half_width_s = k_infinity;
  double step_standard_error_s = k_infinity;
  std::size_t window_begin = 0;  ///< first interval of the window
  /// Steps before the window; without earlier levels of speed, and without stalls that count as
  /// phases.
  Interval warmup;
  std::vector<LevelShift> level_shifts;
  bool may_have_just_changed = false;  ///< as in `Measurement`
  std::map<std::string, PhaseEstimate> phases;
  std::string remark;  ///< why there is no steady state
};

/// Estimates the long run's rate. First removes isolated stalls and counts them as phases. Then
/// finds the last change of level, cuts off the rest of a warm-up after it, and measures the
/// remaining steps, the window. Adds the phases' cost per sample. For trials in turns, the window
/// is all but the first quarter of the intervals. Otherwise the windows could begin at different
/// changes of level, so the trials could not be compared. `first_samples` is the counter at the
/// start of the first interval. `widening`: as for `estimate_rate`.
[[nodiscard]] SteadyState find_steady_state(std::span<const Interval> intervals,
                                            double first_samples, const PhaseLog& reported,
                                            const MeasureOptions& options, double widening);

}  // namespace steptune
