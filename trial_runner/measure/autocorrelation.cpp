// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/autocorrelation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/interval.hpp"

namespace steptune {
namespace {

/// Larger correlations are replaced by these values, because `inflation` grows beyond all limits
/// near 1. Its factors then are 19, and 99 for the cautious estimate from single steps.
constexpr double k_max_correlation = 0.9;
constexpr double k_max_cautious_correlation = 0.98;

double inflation_of(double correlation) {
  return (1.0 + correlation) / (1.0 - correlation);
}

double correlation_of(std::span<const double> residuals) {
  const auto n = static_cast<double>(residuals.size());
  const double squares =
      std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0);
  if (residuals.size() < 5 || squares <= 0.0) return 0.0;
  const double products =
      std::inner_product(residuals.begin(), residuals.end() - 1, residuals.begin() + 1, 0.0);
  return (products / squares + 1.0 / n) / (1.0 - 4.0 / n);
}

}  // namespace

Autocorrelation autocorrelation_of(std::span<const double> residuals) {
  const double correlation = std::min(k_max_correlation, correlation_of(residuals));
  return {correlation, inflation_of(std::max(0.0, correlation))};
}

Autocorrelation cautious_autocorrelation_of(std::span<const double> residuals) {
  const double correlation = std::min(k_max_cautious_correlation, correlation_of(residuals));
  const double rho = std::max(0.0, correlation);
  const double error = std::sqrt((1.0 - rho * rho) / static_cast<double>(residuals.size()));
  const bool depends = correlation > k_significant_errors * error;
  const double larger = depends ? std::min(k_max_cautious_correlation, rho + error) : rho;
  return {correlation, inflation_of(larger)};
}

}  // namespace steptune
