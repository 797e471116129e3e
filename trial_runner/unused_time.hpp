// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

namespace steptune {

/// A period in which machines were held and paid for, and no trial used them.
struct UnusedTime {
  /// The job or allocation that holds the machines, named as in its trials' placement.
  std::string machine;
  double from_wall_s = 0.0;  ///< the same in each report of this period
  double to_wall_s = 0.0;    ///< end of the period so far
  double usd = 0.0;          ///< cost since the last report of this period; 0 without prices

  /// Returns 0 if the clock was set back meanwhile, so that other periods are not reduced.
  [[nodiscard]] double seconds() const { return std::max(0.0, to_wall_s - from_wall_s); }
};

[[nodiscard]] inline double total_usd(std::span<const UnusedTime> times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](double sum, const UnusedTime& time) { return sum + time.usd; });
}

}  // namespace steptune
