// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace steptune {
namespace {

/// Mean weighted by 1 / (error^2 + variance), and the sums that the estimate by moments needs.
struct WeightedMean {
  double weights = 0.0;
  double squared_weights = 0.0;
  double mean = 0.0;
};

WeightedMean mean_of(const std::vector<MeasuredValue>& measured, double variance) {
  WeightedMean result;
  for (const auto& [value, error] : measured) {
    const double weight = 1.0 / (error * error + variance);
    result.weights += weight;
    result.squared_weights += weight * weight;
    result.mean += weight * value;
  }
  result.mean /= result.weights;
  return result;
}

/// Returns the estimated variance of the true values, 0 or more.
double true_variance(const std::vector<MeasuredValue>& measured) {
  const WeightedMean by_error = mean_of(measured, 0.0);
  double misfit = 0.0;
  for (const auto& [value, error] : measured)
    misfit += std::pow((value - by_error.mean) / error, 2);
  const double freedom = static_cast<double>(measured.size()) - 1.0;
  const double scale = by_error.weights - by_error.squared_weights / by_error.weights;
  return scale > 0.0 ? std::max(0.0, (misfit - freedom) / scale) : 0.0;
}

}  // namespace

std::vector<double> shrunk(const std::vector<MeasuredValue>& measured) {
  std::vector<double> result;
  for (const MeasuredValue& each : measured)
    result.push_back(each.value);
  const auto is_known = [](const MeasuredValue& each) { return std::isfinite(each.error); };
  const auto is_exact = [](const MeasuredValue& each) { return !(each.error > 0.0); };
  if (measured.size() < 2 || std::ranges::any_of(measured, is_exact) ||
      std::ranges::none_of(measured, is_known)) {
    return result;
  }
  const double variance = true_variance(measured);
  const double mean = mean_of(measured, variance).mean;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double noise = measured[i].error * measured[i].error;
    const double kept = std::isfinite(noise) ? variance / (variance + noise) : 0.0;
    result[i] = mean + kept * (measured[i].value - mean);
  }
  return result;
}

}  // namespace steptune
