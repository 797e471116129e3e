// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Where the rate changes from one level to another.
struct LevelShift {
  std::size_t interval = 0;  ///< the first of the new level
  double before = 0.0;       ///< seconds per sample
  double after = 0.0;
};

/// The clearest change of level, if there is one, or two of a disturbance that came and went: the
/// split of 64 batch means at most into two or three levels with the least squares (D. M. Hawkins,
/// Computational Statistics & Data Analysis 37, 2001). The last two levels differ by 2 % at least
/// and with p < 0.0002, even for the autocorrelation that the residuals of the levels show, and a
/// straight line fits clearly worse: a drift has no level.
[[nodiscard]] std::vector<LevelShift> find_level_shifts(std::span<const Interval> intervals);

}  // namespace steptune
