// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// An interval that took far longer than its steps usually take, between intervals that did not.
struct Stall {
  std::size_t interval = 0;
  double at_samples = 0.0;  ///< samples from the start of the first interval to the end of this one
  double seconds = 0.0;     ///< seconds beyond the usual time of its steps
};

/// Finds moments at which the steps stop: evaluation, checkpoint, epoch end, garbage collection. An
/// interval is a stall if it exceeds the median rate by eight robust standard deviations (median
/// absolute deviation; F. R. Hampel, JASA 69, 1974) and by at least half a typical interval. At
/// most three intervals in a row count as stalls. A longer run is another level of speed, and so
/// are intervals near the run (a slow start that fades). If more than two intervals stall, and more
/// than one in twenty, returns none: such intervals are then usual (a heavy tail, a worker that
/// stalls every few steps). Returns none for fewer than eight intervals.
[[nodiscard]] std::vector<Stall> find_stalls(std::span<const Interval> intervals);

/// Returns the intervals without the seconds of the stalls.
[[nodiscard]] std::vector<Interval> without_stalls(std::span<const Interval> intervals,
                                                   std::span<const Stall> stalls);

}  // namespace steptune
