// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// A change of the rate from one level to another.
struct LevelShift {
  std::size_t interval = 0;  ///< first interval of the new level
  double before = 0.0;       ///< seconds per sample
  double after = 0.0;
};

/// Finds the clearest change of level, or the two changes at the start and the end of a
/// disturbance. Returns no change for fewer than 12 intervals.
///
/// Splits at most 64 batch means into two or three levels by least squares (D. M. Hawkins,
/// Computational Statistics & Data Analysis 37, 2001). The last two levels must differ by at least
/// 2 %, with p < 0.0002 after correction for the residuals' autocorrelation. The levels must also
/// fit clearly better than a straight line. Otherwise the rate drifts, and a drift has no levels.
[[nodiscard]] std::vector<LevelShift> find_level_shifts(std::span<const Interval> intervals);

}  // namespace steptune
