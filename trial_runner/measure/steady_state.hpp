// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/measure/phase_log.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Estimates the long run's rate. First removes isolated stalls and counts them as phases. Then
/// finds the last change of level, cuts off the rest of a warm-up after it, and measures the
/// remaining steps, the window. Adds the phases' cost per sample. For trials in turns, the window
/// is all but the first quarter of the intervals. Otherwise the windows could begin at different
/// changes of level, so the trials could not be compared.
///
/// `points`: distinct points of `series`, at least one. `widening`: as for `estimate_rate`.
/// Sets status, rates, phases and remark of `measurement`. If there is a rate, also sets the
/// warm-up's excess and the changes of level. Returns the index in `points` where the window
/// begins.
[[nodiscard]] std::size_t find_steady_state(const ProgressSeries& series,
                                            std::span<const std::size_t> points,
                                            const PhaseLog& reported, const MeasureOptions& options,
                                            double widening, Measurement& measurement);

}  // namespace steptune
