// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace steptune {

ChangePoint::ChangePoint(std::size_t versions) : is_skipped_(versions, false) {}

void ChangePoint::observe(std::size_t version, double slowdown, double error) {
  observations_.push_back({version, slowdown, error});
}

void ChangePoint::skip(std::size_t version) {
  is_skipped_[version] = true;
}

std::optional<double> ChangePoint::slowdown_from(std::size_t first) const {
  double weighted = 0.0;
  double weights = 0.0;
  for (const Observation& each : observations_) {
    if (each.version < first) continue;
    const double weight = 1.0 / (each.error * each.error);
    weighted += weight * each.slowdown;
    weights += weight;
  }
  if (!(weights > 0.0)) return std::nullopt;
  return std::max(0.0, weighted / weights);
}

double ChangePoint::log_likelihood(std::size_t first) const {
  const double slow = slowdown_from(first).value_or(0.0);
  double sum = 0.0;
  for (const Observation& each : observations_) {
    const double expected = each.version < first ? 0.0 : slow;
    sum -= 0.5 * std::pow((each.slowdown - expected) / each.error, 2);
  }
  return sum;
}

std::vector<double> ChangePoint::probabilities() const {
  std::vector<double> values(is_skipped_.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = log_likelihood(i);
  const double largest = *std::ranges::max_element(values);
  for (double& value : values)
    value = std::exp(value - largest);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values)
    value /= sum;
  return values;
}

std::optional<std::size_t> ChangePoint::found(double confidence) const {
  const auto likely = remaining(confidence);
  if (likely.size() == 1) return likely.front();
  return std::nullopt;
}

std::vector<std::size_t> ChangePoint::remaining(double confidence) const {
  const std::vector<double> probability = probabilities();
  std::vector<std::size_t> order(probability.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t version) { return probability[version]; });
  double sum = 0.0;
  std::size_t count = 0;
  while (count < order.size() && sum < confidence)
    sum += probability[order[count++]];
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

std::vector<std::size_t> ChangePoint::next(std::size_t most) const {
  const std::vector<double> probability = probabilities();
  std::vector<std::size_t> wanted;
  double sum = 0.0;
  double part = 1.0;
  for (std::size_t version = 0; version < probability.size(); ++version) {
    sum += probability[version];
    if (sum * static_cast<double>(most + 1) < part) continue;
    wanted.push_back(version);
    part = std::floor(sum * static_cast<double>(most + 1)) + 1.0;
  }
  // A version is the first slow one only if its predecessor is fast.
  const std::vector<std::size_t> dividing = wanted;
  for (const std::size_t version : dividing) {
    if (version > 0) wanted.push_back(version - 1);
  }
  std::vector<std::size_t> result;
  for (const std::size_t version : wanted) {
    const bool is_new = std::ranges::find(result, version) == result.end();
    if (is_new && !is_skipped_[version] && result.size() < most) result.push_back(version);
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace steptune
