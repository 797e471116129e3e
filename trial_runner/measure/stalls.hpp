// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// An interval that took far longer than its steps, between others that did not.
struct Stall {
  std::size_t interval = 0;
  double at_samples = 0.0;  ///< at its end, counted from the start of the first interval
  double seconds = 0.0;     ///< beyond the time of its steps
};

/// Finds moments at which the steps stop: evaluation, checkpoint, epoch end, garbage collection. An
/// interval is a stall if it exceeds the median rate by eight robust standard deviations (median
/// absolute deviation; F. R. Hampel, JASA 69, 1974) and by at least half a typical interval. At
/// most three in a row count: more are another level, as are intervals near such a run (a slow
/// start that fades). If more than one interval in twenty stalls, returns none: steps are like that
/// (a heavy tail, a worker that stalls every few steps).
[[nodiscard]] std::vector<Stall> find_stalls(std::span<const Interval> intervals);

/// Returns the intervals without the seconds of the stalls.
[[nodiscard]] std::vector<Interval> without_stalls(std::span<const Interval> intervals,
                                                   std::span<const Stall> stalls);

}  // namespace steptune
