// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune::bayes {

/// Smallest variance of a predicted target, and smallest curvature of a log likelihood. Targets are
/// standardised.
inline constexpr double k_least_variance = 1e-12;

/// The standard normal distribution. Logarithms are accurate even far in the lower tail.

[[nodiscard]] double normal_density(double z);
[[nodiscard]] double normal_cdf(double z);
/// Returns the logarithm of the distribution function; finite for every finite z down to -1e150.
[[nodiscard]] double log_normal_cdf(double z);
/// Returns density(z) / cdf(z), the derivative of `log_normal_cdf`, given the logarithm of cdf(z).
[[nodiscard]] double slope_of_log_cdf(double z, double log_cdf);
/// Returns log(density(z) + z cdf(z)), the logarithm of a standard normal's expected improvement
/// over -z. Source: Ament et al. 2023, "Unexpected improvements to expected improvement", eq. 9.
/// Finite for every finite z down to -1e150.
[[nodiscard]] double log_improvement(double z);
/// Returns log(exp(a) - exp(b)) for a >= b; minus infinity if they are equal.
[[nodiscard]] double log_difference(double a, double b);
/// Returns log(exp(a) + exp(b)).
[[nodiscard]] double log_sum(double a, double b);

}  // namespace steptune::bayes
