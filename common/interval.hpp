// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Half-width of a 95 % interval in standard errors of a normal estimate.
inline constexpr double k_z_95 = 1.959963984540054;
/// Error of a 95 % conclusion. Half of it lies beyond each end of an interval.
inline constexpr double k_error_95 = 0.05;
/// A value of this many standard errors counts as significant where no exact test is made.
inline constexpr double k_significant_errors = 2.0;

/// A measured value with its standard error.
struct MeasuredValue {
  double value = 0.0;
  double error = 0.0;  ///< standard error, 0 or more
};

/// A value with its confidence interval, 95 % unless stated otherwise.
struct Estimate {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

}  // namespace steptune
