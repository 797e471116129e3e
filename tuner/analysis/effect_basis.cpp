// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/effect_basis.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace steptune {
namespace {

/// Number of nodes of a continuous parameter, and of a parameter with more values than this.
constexpr std::size_t k_most_nodes = 33;

}  // namespace

void EffectBasis::add_nodes(const Parameter& parameter) {
  const auto levels = parameter.level_count();
  std::map<double, double> weight_at;
  if (levels && *levels <= k_most_nodes && parameter.scale != Scale::log) {
    for (std::uint64_t level = 0; level < *levels; ++level)
      weight_at[parameter.position_of(parameter.level(level))] += 1.0;
  } else {
    for (std::size_t i = 0; i < k_most_nodes; ++i) {
      const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(k_most_nodes);
      weight_at[parameter.position_of(parameter.at_quantile(quantile))] += 1.0;
    }
  }
  double total = 0.0;
  for (const auto& [position, weight] : weight_at)
    total += weight;
  for (const auto& [position, weight] : weight_at) {
    nodes_.push_back(position);
    weights_.push_back(weight / total);
  }
}

double EffectBasis::mean_product(std::span<const double> a, std::span<const double> b) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += weights_[i] * a[i] * b[i];
  return sum;
}

bool EffectBasis::add(std::vector<double> values, double degree) {
  const std::vector<double> ones(values.size(), 1.0);
  const double before = mean_product(values, values);
  // Two passes suffice (Giraud, Langou and Rozloznik 2005): the second pass removes the rounding
  // errors of the first pass.
  for (int pass = 0; pass < 2; ++pass) {
    const double mean = mean_product(values, ones);
    for (double& value : values)
      value -= mean;
    for (const auto& function : functions_) {
      const double share = mean_product(values, function);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] -= share * function[i];
    }
  }
  const double variance = mean_product(values, values);
  constexpr double k_dependent = 1e-10;
  if (!(variance > k_dependent * before)) return false;
  for (double& value : values)
    value /= std::sqrt(variance);
  functions_.push_back(std::move(values));
  degrees_.push_back(degree);
  return true;
}

EffectBasis::EffectBasis(const Parameter& parameter, std::size_t most) {
  add_nodes(parameter);
  const std::size_t count = nodes_.size();
  const auto indicator = [&](std::size_t node) {
    std::vector<double> values(count, 0.0);
    values[node] = 1.0;
    return values;
  };
  if (parameter.unordered()) {
    interpolated_ = false;
    // All choices without an indicator function share one value. Use this simplification only for a
    // parameter with many choices.
    const std::size_t indicators = most == 0 ? 0 : k_most_main_functions;
    for (std::size_t node = 0; node + 1 < count && size() < indicators; ++node)
      add(indicator(node), 1.0);
    return;
  }
  const bool from_zero = parameter.kind == ParameterKind::integer && parameter.low == 0.0;
  for (std::size_t degree = 1; degree < count && size() < most; ++degree) {
    std::vector<double> values;
    for (const double node : nodes_)
      values.push_back(std::pow(2.0 * node - 1.0, static_cast<double>(degree)));
    add(std::move(values), static_cast<double>(degree));
    if (degree == 1 && from_zero && size() < most) add(indicator(0), 1.0);
  }
}

void EffectBasis::evaluate(double position, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  if (!(position >= 0.0) || nodes_.empty()) return;
  const auto above = std::ranges::lower_bound(nodes_, position);
  const auto right = std::min(static_cast<std::size_t>(above - nodes_.begin()), nodes_.size() - 1);
  std::size_t left = right;
  double share = 0.0;
  if (interpolated_ && right > 0 && nodes_[right] > position) {
    left = right - 1;
    share = (nodes_[right] - position) / (nodes_[right] - nodes_[left]);
  }
  for (std::size_t k = 0; k < size(); ++k)
    out[k] = (1.0 - share) * functions_[k][right] + share * functions_[k][left];
}

}  // namespace steptune
