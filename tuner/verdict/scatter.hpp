// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

namespace steptune {

/// Scatter of values about their mean.
struct Scatter {
  double squares = 0.0;             ///< sum of squared deviations
  double degrees_of_freedom = 0.0;  ///< 0: nothing is known
  double mean = 0.0;                ///< 0 if several groups of values have their own means

  /// Needs at least one degree of freedom, unlike `deviation`.
  [[nodiscard]] double variance() const { return squares / degrees_of_freedom; }
  /// Returns the standard deviation; 0 if nothing is known.
  [[nodiscard]] double deviation() const {
    return degrees_of_freedom > 0.0 ? std::sqrt(variance()) : 0.0;
  }
};

/// Returns the scatter of at least one value.
[[nodiscard]] inline Scatter scatter_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Scatter scatter{0.0, count - 1.0, 0.0};
  for (const double value : values)
    scatter.mean += value / count;
  for (const double value : values)
    scatter.squares += (value - scatter.mean) * (value - scatter.mean);
  return scatter;
}

}  // namespace steptune
