// SPDX-License-Identifier: Apache-2.0
#include "search/space/search_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "search/space/space_rules.hpp"

namespace steptune {
namespace {

std::string shown(const Value& value) {
  return std::holds_alternative<std::string>(value) ? '"' + printable_line(to_text(value), 60) + '"'
                                                    : to_text(value);
}

}  // namespace

const Parameter* SearchSpace::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> SearchSpace::product_size() const {
  std::uint64_t product = 1;
  for (const Column& column : columns_) {
    if (column.levels == 0 || __builtin_mul_overflow(product, column.levels, &product)) {
      return std::nullopt;
    }
  }
  return product;
}

bool SearchSpace::discrete() const {
  return std::ranges::none_of(columns_, [](const Column& column) { return column.levels == 0; });
}

Result<void> SearchSpace::check_values(const Configuration& configuration) const {
  for (const auto& [name, value] : configuration.values()) {
    const Parameter* parameter = find(name);
    if (parameter == nullptr) {
      std::vector<std::string> names;
      for (const Parameter& known : parameters_)
        names.push_back(known.name);
      return fail(ErrorKind::usage,
                  fmt::format("there is no parameter \"{}\"{}", name, did_you_mean(name, names)),
                  "/" + name);
    }
    if (std::isnan(parameter->position_of(value))) {
      return fail(
          ErrorKind::usage,
          fmt::format("{} is not a value of {}: {}", shown(value), name, parameter->range_text()),
          "/" + name);
    }
  }
  return {};
}

Result<void> SearchSpace::check(const Configuration& configuration) const {
  if (auto known = check_values(configuration); !known) return known;
  const auto evaluator = rules_->evaluator();
  std::vector<double> row(parameters_.size(), 0.0);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const Value* value = configuration.find(parameter.name);
    const bool active = evaluator.active(i, row);
    if (active && value == nullptr) {
      return fail(ErrorKind::usage, fmt::format("a value for {} is missing", parameter.name), {},
                  fmt::format("{}: {}", parameter.name, parameter.range_text()));
    }
    if (!active && value != nullptr) {
      return fail(ErrorKind::usage,
                  fmt::format("{} has a value, but its condition \"{}\" is false", parameter.name,
                              *parameter.when),
                  "/" + parameter.name);
    }
    if (active) row[i] = Expression::number_of(*value);
  }
  if (const auto violated = evaluator.violated(row)) {
    return fail(ErrorKind::usage,
                fmt::format("the constraint \"{}\" is violated", constraint_texts_[*violated]));
  }
  return {};
}

Point SearchSpace::encode(const Configuration& configuration) const {
  Point point;
  point.reserve(parameters_.size());
  for (const Parameter& parameter : parameters_) {
    const Value* value = configuration.find(parameter.name);
    point.push_back(value == nullptr ? k_inactive : parameter.position_of(*value));
  }
  return point;
}

Configuration SearchSpace::decode(const Point& point) const {
  Point snapped = point;
  (void)snap(snapped);
  Configuration configuration;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (snapped[i] == k_inactive) continue;
    configuration.set(parameters_[i].name, parameters_[i].at_position(snapped[i]));
  }
  return configuration;
}

SearchSpace::Located SearchSpace::locate(std::size_t parameter, double coordinate) const {
  const Column& column = columns_[parameter];
  const Parameter& definition = parameters_[parameter];
  const double wanted = coordinate > 0.0 ? coordinate : 0.0;  // NaN and k_inactive count as 0
  if (column.positions.empty()) {
    const Value value = definition.at_position(wanted);
    return {definition.position_of(value), Expression::number_of(value)};
  }
  const auto last = static_cast<double>(column.levels - 1);
  std::size_t level = 0;
  if (definition.unordered()) {
    level = static_cast<std::size_t>(std::min(std::round(wanted), last));
  } else if (column.even) {
    level = static_cast<std::size_t>(std::round(std::min(wanted, 1.0) * last));
  } else {
    const auto above = std::lower_bound(column.positions.begin(), column.positions.end(), wanted);
    level = static_cast<std::size_t>(above - column.positions.begin());
    if (level == column.positions.size() ||
        (level > 0 && wanted - column.positions[level - 1] <= column.positions[level] - wanted)) {
      --level;
    }
  }
  return {column.positions[level], column.numbers[level]};
}

bool SearchSpace::snap(std::span<double> point) const {
  if (rules_->empty()) {
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] = locate(i, point[i]).position;
    return true;
  }
  const auto evaluator = rules_->evaluator();
  std::array<double, k_max_parameters> numbers;
  const std::span<double> row(numbers.data(), point.size());
  std::fill(row.begin(), row.end(), 0.0);
  bool feasible = true;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (evaluator.active(i, row)) {
      const Located located = locate(i, point[i]);
      point[i] = located.position;
      row[i] = located.number;
    } else {
      point[i] = k_inactive;
    }
    feasible = feasible && evaluator.feasible_at(i, row);
  }
  return feasible;
}

std::optional<Point> SearchSpace::point_at_quantiles(std::span<const double> quantiles) const {
  Point point(parameters_.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    const Column& column = columns_[i];
    if (!column.positions.empty() && (column.even || parameters_[i].unordered())) {
      const double level = std::floor(quantiles[i] * static_cast<double>(column.levels));
      const auto last = static_cast<double>(column.levels - 1);
      point[i] = column.positions[static_cast<std::size_t>(std::clamp(level, 0.0, last))];
    } else {
      point[i] = parameters_[i].position_of(parameters_[i].at_quantile(quantiles[i]));
    }
  }
  if (!snap(point)) return std::nullopt;
  return point;
}

std::optional<Point> SearchSpace::draw(Rng& rng) const {
  std::vector<double> quantiles(parameters_.size());
  for (double& quantile : quantiles)
    quantile = rng.uniform();
  return point_at_quantiles(quantiles);
}

std::optional<Configuration> SearchSpace::sample(Rng& rng, int attempts) const {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (const auto point = draw(rng)) return decode(*point);
  }
  const auto rows = enumerate_points(k_most_counted);
  if (!rows || rows->empty()) return std::nullopt;
  const std::size_t width = parameters_.size();
  const auto first =
      rows->begin() + static_cast<std::ptrdiff_t>(rng.below(rows->size() / width) * width);
  return decode(Point(first, first + static_cast<std::ptrdiff_t>(width)));
}

}  // namespace steptune
