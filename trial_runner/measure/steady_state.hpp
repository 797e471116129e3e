// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trial_runner/measure/level_shift.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/phase_log.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// What a series of intervals says of the long run.
struct SteadyState {
  MeasurementStatus status = MeasurementStatus::no_reports;
  double seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  double half_width_s = std::numeric_limits<double>::infinity();
  double step_seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  double step_half_width_s = std::numeric_limits<double>::infinity();
  double step_standard_error_s = std::numeric_limits<double>::infinity();
  std::size_t window_begin = 0;  ///< the first interval that counts
  /// The steps before it, less what other levels held; without stalls that are counted as phases.
  Interval warmup;
  std::vector<LevelShift> level_shifts;
  bool may_have_just_changed = false;  ///< as in `Measurement`
  std::map<std::string, PhaseEstimate> phases;
  std::string remark;  ///< why it is not steady
};

/// Isolated stalls are taken out first and counted as phases; then the last change of level is
/// looked for, what is left of a warm-up after it is cut off, and the rest is measured; phases are
/// added at their period. `first_samples` is the counter at the first interval's begin; `widening`
/// as for `estimate_rate`, `usual_variance_s` as for `with_usual_noise`.
[[nodiscard]] SteadyState find_steady_state(std::span<const Interval> intervals,
                                            double first_samples, const PhaseLog& reported,
                                            double widening, double usual_variance_s);

}  // namespace steptune
