// SPDX-License-Identifier: Apache-2.0
#include "search/schedulers/pareto_rank.hpp"

#include <algorithm>
#include <cstddef>

#include "common/numbers.hpp"

namespace steptune {
namespace {

/// Returns the `candidates` (indices of `points`) that no other candidate dominates.
std::vector<std::size_t> first_front(const std::vector<std::vector<double>>& points,
                                     const std::vector<std::size_t>& candidates) {
  std::vector<std::size_t> front;
  for (const std::size_t i : candidates) {
    const bool dominated = std::ranges::any_of(
        candidates, [&](std::size_t j) { return dominates(points[j], points[i]); });
    if (!dominated) front.push_back(i);
  }
  return front;
}

/// Returns each member's crowding distance: the distance between its neighbours on the front.
std::vector<double> crowding(const std::vector<std::vector<double>>& points,
                             const std::vector<std::size_t>& front) {
  std::vector<double> distances(front.size(), 0.0);
  std::vector<std::size_t> order(front.size());
  for (std::size_t objective = 0; objective < points[front[0]].size(); ++objective) {
    const auto value = [&](std::size_t member) { return points[front[member]][objective]; };
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    distances[order.front()] = k_infinity;
    distances[order.back()] = k_infinity;
    const double range = value(order.back()) - value(order.front());
    if (!(range > 0.0)) continue;
    for (std::size_t i = 1; i + 1 < order.size(); ++i) {
      distances[order[i]] += (value(order[i + 1]) - value(order[i - 1])) / range;
    }
  }
  return distances;
}

}  // namespace

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::size_t rank_among(std::span<const double> point, std::span<const std::vector<double>> others) {
  if (point.size() == 1) {
    return static_cast<std::size_t>(std::ranges::count_if(
        others, [&](const std::vector<double>& other) { return other[0] < point[0]; }));
  }
  std::vector<std::vector<double>> points(others.begin(), others.end());
  points.emplace_back(point.begin(), point.end());
  const std::size_t self = points.size() - 1;
  std::vector<std::size_t> left(points.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] = i;
  std::size_t before = 0;
  for (;;) {
    const auto front = first_front(points, left);
    const auto found = std::find(front.begin(), front.end(), self);
    if (found != front.end()) {
      const auto distances = crowding(points, front);
      const double own = distances[static_cast<std::size_t>(found - front.begin())];
      return before + static_cast<std::size_t>(std::ranges::count_if(
                          distances, [&](double distance) { return distance > own; }));
    }
    before += front.size();
    std::erase_if(left,
                  [&](std::size_t i) { return std::binary_search(front.begin(), front.end(), i); });
  }
}

}  // namespace steptune
