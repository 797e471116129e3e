// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/distinct_points.hpp"

namespace steptune {
namespace {

/// Points that follow each other within this share of their mean distance arrived together.
constexpr double k_together = 0.02;
/// Longest group of such points, as a share of the mean distance. Beside a long pause all steps are
/// short, and this limit keeps them apart.
constexpr double k_longest_group = 0.2;

}  // namespace

std::vector<std::size_t> distinct_points(std::span<const double> times_s) {
  std::vector<std::size_t> points;
  if (times_s.empty()) return points;
  const auto distances = static_cast<double>(times_s.size() - 1);
  const double mean_s = distances > 0.0 ? (times_s.back() - times_s.front()) / distances : 0.0;
  double group_s = 0.0;  // time of the first point of the group
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    const bool together = !points.empty() &&
                          times_s[i] - times_s[points.back()] <= k_together * mean_s &&
                          times_s[i] - group_s <= k_longest_group * mean_s;
    if (together) {
      points.back() = i;
    } else {
      points.push_back(i);
      group_s = times_s[i];
    }
  }
  if (points.size() > 2 && 4 * points.size() < 3 * times_s.size()) points.pop_back();
  return points;
}

}  // namespace steptune
