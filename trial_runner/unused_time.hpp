// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

namespace steptune {

/// A time in which machines were held and paid for, and no trial used them.
struct UnusedTime {
  /// The job or allocation that they belong to, as the placement of its trials names it.
  std::string machine;
  double from_wall_s = 0.0;  ///< the same each time it is told of
  double to_wall_s = 0.0;    ///< so far
  double usd = 0.0;          ///< since it was last told of; 0 without prices

  /// None where the clock was set back meanwhile: that takes nothing from other times.
  [[nodiscard]] double seconds() const { return std::max(0.0, to_wall_s - from_wall_s); }
};

[[nodiscard]] inline double total_usd(std::span<const UnusedTime> times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](double sum, const UnusedTime& time) { return sum + time.usd; });
}

}  // namespace steptune
