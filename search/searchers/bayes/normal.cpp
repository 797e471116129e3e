// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/constants/constants.hpp>

#include "common/numbers.hpp"

namespace steptune::bayes {
namespace {

using boost::math::double_constants::log_root_two_pi;

// Below about -38, exp(z^2/2) overflows and erfc underflows. Below the argument `k_asymptotic`, the
// first terms of the asymptotic series of Mills' ratio give logarithms with errors under 1e-8.
constexpr double k_asymptotic = -25.0;

}  // namespace

double normal_density(double z) {
  return std::exp(-0.5 * z * z - log_root_two_pi);
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double log_normal_cdf(double z) {
  if (z > k_asymptotic) return std::log(normal_cdf(z));
  const double inverse = 1.0 / (z * z);
  return -0.5 * z * z - log_root_two_pi - std::log(-z) +
         std::log1p(-inverse * (1.0 - inverse * (3.0 - 15.0 * inverse)));
}

double slope_of_log_cdf(double z, double log_cdf) {
  return std::exp(-0.5 * z * z - log_root_two_pi - log_cdf);
}

double log_improvement(double z) {
  // Ament et al. 2023, eq. 9. Uses three ranges, because the sum density + z cdf loses precision in
  // the lower tail.
  if (z > -1.0) return std::log(normal_density(z) + z * normal_cdf(z));
  if (z > k_asymptotic) {
    // density(z) (1 - |z| Mills(|z|)): the relative error from cancellation stays below z^2
    // epsilon.
    const double mills = std::exp(0.5 * z * z) * std::erfc(-z / std::numbers::sqrt2) *
                         std::sqrt(std::numbers::pi / 2.0);
    return -0.5 * z * z - log_root_two_pi + std::log1p(z * mills);
  }
  const double inverse = 1.0 / (z * z);
  return -0.5 * z * z - log_root_two_pi - 2.0 * std::log(-z) +
         std::log1p(-inverse * (3.0 - inverse * (15.0 - 105.0 * inverse)));
}

double log_difference(double a, double b) {
  if (!(a > b)) return -k_infinity;
  return a + std::log(-std::expm1(b - a));
}

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  const double low = std::min(a, b);
  if (std::isinf(high)) return high;
  return high + std::log1p(std::exp(low - high));
}

}  // namespace steptune::bayes
