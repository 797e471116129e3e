// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "search/space/search_space.hpp"
#include "search/space/space_rules.hpp"

namespace steptune {
namespace {

/// If a parameter has at most this many levels, all of them count as neighbours.
constexpr std::uint64_t k_few_levels = 12;

double position_of_level(const Parameter& parameter, std::uint64_t level) {
  return parameter.position_of(parameter.level(level));
}

/// Returns other coordinates to try for an active parameter, each once.
std::vector<double> moves(const Parameter& parameter, std::uint64_t levels, double from) {
  std::vector<double> to;
  if (levels == 0) {
    for (const double distance : {1.0 / 256, 1.0 / 64, 1.0 / 16, 1.0 / 4}) {
      if (from - distance >= 0.0) to.push_back(from - distance);
      if (from + distance <= 1.0) to.push_back(from + distance);
    }
    return to;
  }
  const auto current = *parameter.level_of(parameter.at_position(from));
  if (parameter.unordered() || levels <= k_few_levels) {
    for (std::uint64_t level = 0; level < levels; ++level) {
      if (level != current) to.push_back(position_of_level(parameter, level));
    }
    return to;
  }
  for (std::uint64_t distance = 1; distance < levels; distance *= 2) {
    if (distance <= current) to.push_back(position_of_level(parameter, current - distance));
    if (current + distance < levels) {
      to.push_back(position_of_level(parameter, current + distance));
    }
  }
  return to;
}

}  // namespace

SearchSpace::Walk SearchSpace::walk(std::uint64_t max_branches, const Visit& visit) const {
  const std::size_t width = parameters_.size();
  const auto evaluator = rules_->evaluator();
  std::vector<double> point(width, k_inactive);
  std::vector<double> row(width, 0.0);
  std::uint64_t branches = 0;
  const std::function<Walk(std::size_t)> descend = [&](std::size_t at) -> Walk {
    if (at == width) return visit(point) ? Walk::finished : Walk::ended;
    const Column& column = columns_[at];
    const bool active = evaluator.active(at, row);
    const std::uint64_t levels = active ? column.levels : 1;
    for (std::uint64_t level = 0; level < levels; ++level) {
      if (++branches > max_branches) return Walk::gave_up;
      point[at] = k_inactive;
      row[at] = 0.0;
      if (active && !column.positions.empty()) {
        point[at] = column.positions[static_cast<std::size_t>(level)];
        row[at] = column.numbers[static_cast<std::size_t>(level)];
      } else if (active) {
        const Value value = parameters_[at].level(level);
        point[at] = parameters_[at].position_of(value);
        row[at] = Expression::number_of(value);
      }
      if (!evaluator.feasible_at(at, row)) continue;
      if (const Walk walked = descend(at + 1); walked != Walk::finished) return walked;
    }
    point[at] = k_inactive;
    row[at] = 0.0;
    return Walk::finished;
  };
  return descend(0);
}

std::optional<std::vector<double>> SearchSpace::enumerate_points(std::uint64_t limit) const {
  if (!discrete()) return std::nullopt;
  // Limit the branches, because under tight constraints most branches yield no row.
  const std::uint64_t max_branches = 16 * limit + 1024;
  std::vector<double> rows;
  std::uint64_t count = 0;
  const Walk walked = walk(max_branches, [&](std::span<const double> point) {
    if (++count > limit) return false;
    rows.insert(rows.end(), point.begin(), point.end());
    return true;
  });
  if (walked != Walk::finished) return std::nullopt;
  return rows;
}

std::optional<std::vector<Configuration>> SearchSpace::enumerate(std::uint64_t limit) const {
  const auto product = product_size();
  if (!product || *product > limit) return std::nullopt;
  std::vector<Configuration> configurations;
  (void)walk(UINT64_MAX, [&](std::span<const double> point) {
    configurations.push_back(decode(Point(point.begin(), point.end())));
    return true;
  });
  return configurations;
}

std::vector<double> SearchSpace::neighbour_points(std::span<const double> point) const {
  const std::size_t width = parameters_.size();
  std::vector<double> rows;
  Point candidate;
  const auto add = [&] {
    if (!snap(candidate) || std::equal(point.begin(), point.end(), candidate.begin())) return;
    rows.insert(rows.end(), candidate.begin(), candidate.end());
  };
  for (std::size_t i = 0; i < width; ++i) {
    if (point[i] == k_inactive) continue;
    for (const double move : moves(parameters_[i], columns_[i].levels, point[i])) {
      candidate.assign(point.begin(), point.end());
      candidate[i] = move;
      Point snapped = candidate;
      (void)snap(snapped);
      std::vector<std::size_t> activated;
      for (std::size_t j = 0; j < width; ++j) {
        if (point[j] == k_inactive && snapped[j] != k_inactive) activated.push_back(j);
      }
      if (activated.empty()) {
        add();
        continue;
      }
      const Point changed = candidate;
      Point previous;
      for (const double share : {0.0, 0.5, 1.0}) {
        candidate = changed;
        for (const std::size_t j : activated) {
          const double last =
              parameters_[j].unordered() ? static_cast<double>(columns_[j].levels - 1) : 1.0;
          candidate[j] = share * last;
        }
        Point probe = candidate;
        (void)snap(probe);
        if (probe == previous) continue;
        previous = probe;
        add();
      }
    }
  }
  return rows;
}

}  // namespace steptune
