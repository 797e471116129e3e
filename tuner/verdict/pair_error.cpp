// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/pair_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace steptune {
namespace {

/// Standard deviation of the logarithm of the prior for the standard deviation among launches. Its
/// median is `LaunchVariation{}.relative`. If launches differ by 10 %, 94 % of the intervals
/// contain the truth, and only 91 % with 1.0. With 1.5, 96 % do, but two pairs hardly decide
/// anything (benchmarks/null_studies).
constexpr double k_log_deviation = 1.25;
/// Range of the standard deviations among launches, and the ratio of neighbouring values. A finer
/// grid changes intervals by less than 1 %.
constexpr double k_least = 0.0005;
constexpr double k_most = 3.0;
constexpr double k_ratio = 1.1;

/// Largest logarithm of the ratio between the variances of sums and of differences, and the number
/// of its values above 0. With more values, intervals change by less than 1 %.
constexpr double k_most_log_ratio = 6.9;  // 1 000
constexpr int k_log_ratios = 10;
/// Prior probability that nothing disturbs both runs alike. With 0.5, 93 % of the intervals on a
/// quiet machine contain the truth, with 0.75 almost 95 % (benchmarks/measuring_methods). With
/// more, intervals on disturbed machines would be wider than without sums.
constexpr double k_undisturbed = 0.75;

/// Weight of a standard deviation that changes no error.
constexpr double k_negligible = 1e-10;

double log_likelihood(double squares, double degrees_of_freedom, double variance) {
  return -0.5 * (degrees_of_freedom * std::log(variance) + squares / variance);
}

/// Returns the log likelihood of the pairs' sums, if their differences have this variance.
double log_likelihood_of_sums(const PairScatter& scatter, double variance) {
  if (std::isnan(scatter.sum_squares)) return 0.0;
  const double freedom = scatter.pairs - 1.0;
  const double relative_squares = scatter.sum_squares / variance;
  // Logarithms of the likelihoods at ratios above 1, relative to the likelihood at 1.
  std::array<double, k_log_ratios> above_1{};
  double most = 0.0;
  for (std::size_t i = 0; i < above_1.size(); ++i) {
    const double log_ratio = k_most_log_ratio * static_cast<double>(i + 1) / k_log_ratios;
    above_1[i] = 0.5 * (relative_squares * -std::expm1(-log_ratio) - freedom * log_ratio);
    most = std::max(most, above_1[i]);
  }
  double likelihood = k_undisturbed * std::exp(-most);
  for (const double each : above_1)
    likelihood += (1.0 - k_undisturbed) / k_log_ratios * std::exp(each - most);
  return log_likelihood(scatter.sum_squares, freedom, variance) + most + std::log(likelihood);
}

}  // namespace

PairError::PairError(std::vector<Component> with_log_weights)
    : components_(std::move(with_log_weights)) {
  const double most = std::ranges::max_element(components_, {}, &Component::weight)->weight;
  double total = 0.0;
  for (Component& component : components_) {
    component.weight = std::exp(component.weight - most);
    total += component.weight;
  }
  for (Component& component : components_)
    component.weight /= total;
  std::erase_if(components_, [](const Component& each) { return each.weight < k_negligible; });
}

PairError::PairError(const PairScatter& scatter, double within_variance, const KnownLaunches& known)
    : PairError([&] {
        std::vector<Component> components;
        for (double deviation = k_least; deviation < k_most; deviation *= k_ratio) {
          const double launches = deviation * deviation;
          const double of_pair = 2.0 * launches + within_variance;
          const double ratio = deviation / LaunchVariation{}.relative;
          const double from_median = std::log(ratio) / k_log_deviation;
          double log_weight = -0.5 * from_median * from_median;
          log_weight += log_likelihood(scatter.squares, scatter.pairs - 1.0, of_pair);
          log_weight += log_likelihood_of_sums(scatter, of_pair);
          for (const auto& [others, within] : known) {
            log_weight +=
                log_likelihood(others.squares, others.degrees_of_freedom, launches + within);
          }
          components.push_back({log_weight, std::sqrt(of_pair / scatter.pairs)});
        }
        return components;
      }()) {}

PairError PairError::by_pairs(const PairScatter& scatter, const Scatter& earlier,
                              double least_variance) {
  std::vector<Component> components;
  const double most = std::max(least_variance, 2.0 * k_most * k_most);
  for (double variance = least_variance; variance <= most; variance *= k_ratio * k_ratio) {
    const double log_weight =
        log_likelihood(scatter.squares, scatter.pairs - 1.0, variance) +
        log_likelihood(earlier.squares, earlier.degrees_of_freedom, variance) +
        log_likelihood_of_sums(scatter, variance);
    components.push_back({log_weight, std::sqrt(variance / scatter.pairs)});
  }
  return PairError(std::move(components));
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
  double high = 2.0 * standard_error();
  while (exceeds(high))
    high *= 2.0;
  while (high - low > 1e-4 * high) {
    const double middle = 0.5 * (low + high);
    (exceeds(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace steptune
