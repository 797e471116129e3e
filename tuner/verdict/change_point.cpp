// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace steptune {
namespace {

/// Normal quantiles of 1 - 0.025 / n for n versions: half-widths of intervals in standard errors.
constexpr std::array<double, k_most_in_stage> k_errors_in_half_width{1.96, 2.24, 2.39, 2.50,
                                                                     2.58, 2.64, 2.69};

/// Standard errors by which the bad version must differ to count as slower, or as not slower.
constexpr double k_certain_errors = 2.0;
/// Smallest slowdown, as a logarithm, that is looked for.
constexpr double k_least_slowdown = 0.02;

}  // namespace

std::optional<bool> is_slower(const MeasuredSlowdown& measured) {
  const double least = k_certain_errors * measured.error;
  if (measured.slowdown > least) return true;
  if (measured.slowdown + least < k_least_slowdown) return false;
  return std::nullopt;
}

std::optional<MeasuredSlowdown> slowdown_in_stage(const SpeedUp& speed_up, std::size_t versions) {
  const double half_width = 0.5 * (std::log(speed_up.high) - std::log(speed_up.low));
  if (!std::isfinite(half_width) || !(half_width > 0.0)) return std::nullopt;
  return MeasuredSlowdown{-std::log(speed_up.ratio),
                          half_width / k_errors_in_half_width.at(versions - 1)};
}

ChangePoint::ChangePoint(std::size_t versions) : is_skipped_(versions, false) {}

void ChangePoint::observe(std::size_t version, double slowdown, double error) {
  observations_.push_back({version, slowdown, error});
}

std::optional<MeasuredSlowdown> ChangePoint::measured(std::size_t version) const {
  double weighted = 0.0;
  double weights = 0.0;
  for (const Observation& each : observations_) {
    if (each.version != version) continue;
    const double weight = 1.0 / (each.error * each.error);
    weighted += weight * each.slowdown;
    weights += weight;
  }
  if (!(weights > 0.0)) return std::nullopt;
  return MeasuredSlowdown{weighted / weights, 1.0 / std::sqrt(weights)};
}

void ChangePoint::skip(std::size_t version) {
  is_skipped_[version] = true;
}

std::vector<std::size_t> ChangePoint::next_with_bad(std::size_t most) const {
  const std::size_t bad = is_skipped_.size() - 1;
  std::vector<std::size_t> versions = next(most - 1);
  if (std::ranges::find(versions, bad) == versions.end()) versions.push_back(bad);
  return versions;
}

double ChangePoint::stages_left(double confidence) const {
  const auto left = static_cast<double>(remaining(confidence).size());
  return 1.0 + std::ceil(std::log(left) / std::log(double(k_most_in_stage + 1)));
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

bool ChangePoint::can_narrow(double confidence) const {
  const std::vector<std::size_t> suspects = remaining(confidence);
  for (std::size_t version = suspects.front(); version < suspects.back(); ++version) {
    if (!is_skipped_[version]) return true;
  }
  return false;
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
