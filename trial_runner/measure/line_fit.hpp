// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace steptune {

/// Least-squares line through values at the positions 0, 1, 2, ...
struct LineFit {
  double mean = 0.0;
  double slope = 0.0;
  double slope_error = 0.0;  ///< standard error
  double squares = 0.0;      ///< sum of squared deviations from the line
};

/// Fits a line to at least three values.
[[nodiscard]] inline LineFit line_fit(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  LineFit line;
  for (const double value : values)
    line.mean += value / n;
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - 0.5 * (n - 1.0), y = values[i] - line.mean;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  line.slope = xy / xx;
  line.squares = std::max(0.0, yy - xy * xy / xx);
  line.slope_error = std::sqrt(line.squares / (n - 2.0) / xx);
  return line;
}

}  // namespace steptune
