// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Student's t that is exceeded with probability `tail`; `freedom` need not be whole, at least 1.
[[nodiscard]] double student_quantile(double freedom, double tail);
/// Half-width of a 95 % interval in standard errors.
[[nodiscard]] double student_quantile_95(double freedom);
/// Upper end of the 95 % interval of a Poisson mean of which `count` events were seen.
[[nodiscard]] double poisson_upper_95(double count);
/// Upper end of the 95 % interval of the mean of gamma distributed values that sum up to a gamma
/// variable of this shape, over the mean that was seen: of n exponential ones the shape is n.
[[nodiscard]] double gamma_mean_upper_95(double shape);

/// What a chi-squared variable is below with probability `below`; `freedom` is above 0.
[[nodiscard]] double chi_squared_quantile(double freedom, double below);

}  // namespace steptune
