// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "trial_runner/measure/half_widths.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Variance of the slowdown's prior, a normal distribution of its logarithm about 0. Its standard
/// deviation is 10 %.
constexpr double k_slowdown_variance = 0.1 * 0.1;

using Stage = std::vector<ChangePoint::Observation>;

/// Returns a' C^-1 b. Here a and b have one number for each observation, and C is the covariance of
/// the observations' errors. C is a diagonal matrix plus the common variance in each element
/// (inverse: J. Sherman and W. J. Morrison, Annals of Mathematical Statistics 21(1), 1950).
template <typename A, typename B>
double weighted_product(const Stage& stage, const A& a, const B& b) {
  const auto most_precise = std::ranges::min_element(stage, {}, &ChangePoint::Observation::error);
  const double common = 0.5 * most_precise->error * most_precise->error;
  double of_both = 0.0;
  double of_a = 0.0;
  double of_b = 0.0;
  double weights = 0.0;
  for (const ChangePoint::Observation& each : stage) {
    const double weight = 1.0 / (each.error * each.error - common);
    of_both += weight * a(each) * b(each);
    of_a += weight * a(each);
    of_b += weight * b(each);
    weights += weight;
  }
  return of_both - common * of_a * of_b / (1.0 + common * weights);
}

}  // namespace

std::optional<bool> is_slower(const MeasuredValue& slowdown) {
  const double least = k_significant_errors * slowdown.error;
  if (slowdown.value > least) return true;
  if (slowdown.value + least < k_usual_half_width) return false;
  return std::nullopt;
}

std::optional<MeasuredValue> slowdown_in_stage(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.standard_error)) return std::nullopt;
  return MeasuredValue{-std::log(speed_up.ratio), speed_up.standard_error};
}

ChangePoint::ChangePoint(std::size_t versions) : is_skipped_(versions, false) {}

void ChangePoint::observe(std::vector<Observation> stage) {
  if (!stage.empty()) stages_.push_back(std::move(stage));
}

std::optional<MeasuredValue> ChangePoint::measured(std::size_t version) const {
  double weighted = 0.0;
  double weights = 0.0;
  for (const Stage& stage : stages_) {
    for (const Observation& each : stage) {
      if (each.version != version) continue;
      const double weight = 1.0 / (each.error * each.error);
      weighted += weight * each.slowdown;
      weights += weight;
    }
  }
  if (!(weights > 0.0)) return std::nullopt;
  return MeasuredValue{weighted / weights, 1.0 / std::sqrt(weights)};
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

double ChangePoint::stage_s(double confidence, double left_s, double whole_s) const {
  // Each stage needs time for its first runs, and few pairs leave wide intervals.
  const double least_s = std::max(k_least_stage_s, whole_s / 6.0);
  const auto versions = static_cast<double>(remaining(confidence).size());
  const double stages = 1.0 + std::ceil(std::log(versions) / std::log(double(k_most_judged)));
  const double stage_s = std::max(left_s / stages, least_s);
  return left_s - stage_s < least_s ? left_s : stage_s;
}

ChangePoint::Evidence ChangePoint::evidence_from(std::size_t first) const {
  const auto is_slow = [&](const Observation& each) { return each.version < first ? 0.0 : 1.0; };
  const auto slowdown = [](const Observation& each) { return each.slowdown; };
  Evidence evidence;
  for (const Stage& stage : stages_) {
    evidence.weighted += weighted_product(stage, is_slow, slowdown);
    evidence.weights += weighted_product(stage, is_slow, is_slow);
  }
  evidence.weighted = std::max(0.0, evidence.weighted);
  return evidence;
}

std::optional<double> ChangePoint::slowdown_from(std::size_t first) const {
  const Evidence evidence = evidence_from(first);
  if (!(evidence.weights > 0.0)) return std::nullopt;
  return evidence.weighted / evidence.weights;
}

double ChangePoint::log_likelihood(std::size_t first) const {
  const auto [weighted, weights] = evidence_from(first);
  return 0.5 * weighted * weighted / (weights + 1.0 / k_slowdown_variance) -
         0.5 * std::log1p(k_slowdown_variance * weights);
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
  // A version is the first slow one only if its predecessor is fast, so measure that, too.
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
