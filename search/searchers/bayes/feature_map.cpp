// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/feature_map.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::bayes {
namespace {

// Two different choices differ in two features, whose squares add up to 1.
const double k_choice = std::sqrt(0.5);
// Fidelities below 1 % count as 1 %.
const double k_log_fidelity_range = std::log(100.0);

}  // namespace

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
    }
    columns_.push_back(column);
  }
  groups_.group_of_feature.push_back(groups_.count++);
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
    // An inactive parameter is in the middle of its range, and half a range away from active ones.
    if (column.conditional) features.back() = active ? 0.0 : 0.5;
    if (!column.conditional || column.count > 1) features[0] = active ? point[i] : 0.5;
  }
  row.back() = std::min(1.0, -std::log(std::clamp(fidelity, 1e-300, 1.0)) / k_log_fidelity_range);
}

Point FeatureMap::point_of(std::span<const double> row) const {
  Point point;
  for (const Column& column : columns_) {
    const std::span<const double> features = row.subspan(column.first, column.count);
    const bool inactive = column.conditional && features.back() > 0.0;
    if (inactive) {
      point.push_back(k_inactive);
    } else if (column.unordered) {
      const auto chosen = std::ranges::max_element(features);
      point.push_back(static_cast<double>(chosen - features.begin()));
    } else {
      const bool has_position = column.count > (column.conditional ? 1U : 0U);
      point.push_back(has_position ? features[0] : 0.0);
    }
  }
  return point;
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
