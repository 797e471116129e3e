// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Returns the value that Student's t exceeds with probability `tail`. `freedom`, the degrees of
/// freedom, is at least 1 and may be fractional.
[[nodiscard]] double student_quantile(double freedom, double tail);
/// Returns the half-width of a 95 % interval in standard errors, by Student's t.
[[nodiscard]] double student_quantile_95(double freedom);
/// Returns the upper end of the 95 % interval of a Poisson mean after `count` events.
[[nodiscard]] double poisson_upper_95(double count);
/// Returns the upper end of the 95 % interval of a mean of gamma-distributed values, divided by the
/// observed mean. `shape` is the shape parameter of the values' sum: n for n exponential values.
[[nodiscard]] double gamma_mean_upper_95(double shape);

/// Returns the value that the ratio of two estimates of one variance exceeds with probability
/// `tail`. `upper` and `lower`: degrees of freedom of the numerator and of the denominator, above
/// 0.
[[nodiscard]] double variance_ratio_quantile(double upper, double lower, double tail);

/// Returns the value below which a chi-squared variable lies with probability `below`. `freedom` is
/// above 0.
[[nodiscard]] double chi_squared_quantile(double freedom, double below);

}  // namespace steptune
