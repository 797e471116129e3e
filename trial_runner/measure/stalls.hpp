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
  double at_samples = 0.0;  ///< counted from the first interval's begin, to its end
  double seconds = 0.0;     ///< beyond what its steps would have taken
};

/// What stops the steps for a moment: evaluation, checkpoint, epoch end, garbage collection. An
/// interval is one if it exceeds the median rate by eight robust standard deviations (median
/// absolute deviation; F. R. Hampel, JASA 69, 1974) and by half a typical interval at least, in a
/// run of three at most: more are another level, as is what is nearer to them than they are long
/// (a slow start that fades). Where more than one interval in twenty is, they are how the steps are
/// (a heavy tail, a worker that stalls every few steps), and none is told.
[[nodiscard]] std::vector<Stall> find_stalls(std::span<const Interval> intervals);

/// The intervals with the seconds of the stalls taken off.
[[nodiscard]] std::vector<Interval> without_stalls(std::span<const Interval> intervals,
                                                   std::span<const Stall> stalls);

}  // namespace steptune
