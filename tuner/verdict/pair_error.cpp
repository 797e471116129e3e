// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/pair_error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/numbers.hpp"

namespace steptune {
namespace {

/// Median of the prior of the standard deviation among launches, as a share of the value.
constexpr double k_median = LaunchVariation{}.relative;
/// Standard deviation of the prior's logarithm. If launches differ by 10 %, 94 % of the intervals
/// contain the truth, and only 91 % with 1.0. With 1.5, 96 % do, but two pairs hardly decide
/// anything (benchmarks/null_studies).
constexpr double k_log_deviation = 1.25;
/// Range of the standard deviations among launches, and the ratio of neighbouring values. A finer
/// grid changes intervals by less than 1 %.
constexpr double k_least = 0.0005;
constexpr double k_most = 3.0;
constexpr double k_ratio = 1.15;

double log_likelihood(double squares, double degrees_of_freedom, double variance) {
  return -0.5 * (degrees_of_freedom * std::log(variance) + squares / variance);
}

}  // namespace

PairError::PairError(double squares, double pairs, double within_variance,
                     const KnownLaunches& known) {
  double most = -k_infinity;
  for (double deviation = k_least; deviation < k_most; deviation *= k_ratio) {
    const double launches = deviation * deviation;
    const double of_pair = 2.0 * launches + within_variance;
    const double from_median = std::log(deviation / k_median) / k_log_deviation;
    double log_weight = -0.5 * from_median * from_median;
    log_weight += log_likelihood(squares, pairs - 1.0, of_pair);
    for (const auto& [scatter, within] : known)
      log_weight += log_likelihood(scatter.squares, scatter.degrees_of_freedom, launches + within);
    components_.push_back({log_weight, std::sqrt(of_pair / pairs)});
    most = std::max(most, log_weight);
  }
  double total = 0.0;
  for (Component& component : components_) {
    component.weight = std::exp(component.weight - most);
    total += component.weight;
  }
  for (Component& component : components_)
    component.weight /= total;
}

double PairError::standard_error() const {
  double precision = 0.0;
  for (const auto& [weight, error] : components_)
    precision += weight / (error * error);
  return 1.0 / std::sqrt(precision);
}

double PairError::quantile(double tail) const {
  const auto exceeds = [&](double value) {
    double probability = 0.0;
    for (const auto& [weight, error] : components_)
      probability += weight * 0.5 * std::erfc(value / error / std::numbers::sqrt2);
    return probability > tail;
  };
  double low = 0.0;
  double high = components_.back().standard_error;
  while (exceeds(high))
    high *= 2.0;
  while (high - low > 1e-4 * high) {
    const double middle = 0.5 * (low + high);
    (exceeds(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace steptune
