// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <variant>

namespace steptune::bayes {
namespace {

// Two different choices differ in two features: the squares of both add up to 1.
const double k_choice = std::sqrt(0.5);
// Squared, the distance between an inactive parameter and the middle of its range when active.
constexpr double k_inactive_offset = 0.5;
// Fidelities below 1 % count as 1 %.
const double k_log_fidelity_range = std::log(100.0);

// Wider ranges would leave no difference between all but the smallest values.
constexpr double k_widest_ratio = 1e9;

bool is_none(const Value& value) {
  return !std::holds_alternative<std::string>(value) && to_number(value) == 0.0;
}

/// Of the feature of a position.
FeatureScale scale_of(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::ordinal) {
    // The factor between the ends is not known where choices are words: some doublings.
    return {1.0, 2.0 * std::numbers::ln2,
            is_none(parameter.choices.front()) ? std::optional(0.0) : std::nullopt};
  }
  if (parameter.scale != Scale::linear) {
    return {1.0, std::log(parameter.high) - std::log(parameter.low), std::nullopt};
  }
  // What may be 0 is counted from 1, as its effect on a time is seldom that of a power.
  const double low = parameter.low > 0.0 ? parameter.low : 1.0;
  return {1.0 + std::min((parameter.high - parameter.low) / low, k_widest_ratio), 1.0,
          parameter.low == 0.0 ? std::optional(0.0) : std::nullopt};
}

}  // namespace

double FeatureScale::logarithm(double feature) const {
  return ratio > 1.0 ? std::log1p((ratio - 1.0) * feature) : span * feature;
}

FeatureMap::FeatureMap(const SearchSpace& space) {
  for (const Parameter& parameter : space.parameters()) {
    Column column;
    column.first = groups_.group_of_feature.size();
    column.unordered = parameter.unordered();
    column.conditional = parameter.when.has_value();
    const auto levels = parameter.level_count();
    const bool constant = levels && *levels <= 1;
    if (column.unordered && (!constant || column.conditional)) {
      column.count = static_cast<std::size_t>(*levels) + (column.conditional ? 1 : 0);
    } else if (!column.unordered) {
      column.count = (constant ? 0U : 1U) + (column.conditional ? 1U : 0U);
    }
    if (column.count > 0) {
      groups_.group_of_feature.insert(groups_.group_of_feature.end(), column.count, groups_.count);
      ++groups_.count;
      // The squares of two different choices differ by 1 in all.
      scales_.resize(groups_.group_of_feature.size(), {1.0, std::numbers::sqrt2, std::nullopt});
      if (!column.unordered && !constant) scales_[column.first] = scale_of(parameter);
      if (parameter.kind == ParameterKind::boolean) scales_[column.first].none = k_choice;
    }
    columns_.push_back(column);
  }
  groups_.group_of_feature.push_back(groups_.count++);
  scales_.push_back({1.0, k_log_fidelity_range, std::nullopt});
}

void FeatureMap::write(std::span<const double> point, std::span<double> row,
                       double fidelity) const {
  std::fill(row.begin(), row.end(), 0.0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.count == 0) continue;
    const bool active = point[i] != k_inactive;
    const std::span<double> features = row.subspan(column.first, column.count);
    if (column.unordered) {
      const auto choice = active ? static_cast<std::size_t>(point[i]) : column.count - 1;
      features[std::min(choice, column.count - 1)] = k_choice;
      continue;
    }
    if (column.conditional) features.back() = active ? 0.0 : k_inactive_offset;
    if (!column.conditional || column.count > 1) features[0] = active ? point[i] : 0.5;
  }
  row.back() = std::min(1.0, -std::log(std::clamp(fidelity, 1e-300, 1.0)) / k_log_fidelity_range);
}

Matrix FeatureMap::rows(std::span<const double> points) const {
  const std::size_t count = columns_.empty() ? 0 : points.size() / columns_.size();
  Matrix result(count, width());
  for (std::size_t i = 0; i < count; ++i) {
    write(points.subspan(i * columns_.size(), columns_.size()), result.row(i));
  }
  return result;
}

Matrix FeatureMap::rows(std::span<const Point> points) const {
  Matrix result(points.size(), width());
  for (std::size_t i = 0; i < points.size(); ++i)
    write(points[i], result.row(i));
  return result;
}

}  // namespace steptune::bayes
