// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/problem.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::search_quality {

double Problem::regret(double value) const {
  const double scale = relative_to_optimum ? std::abs(optimum) : typical - optimum;
  return std::max(0.0, (value - optimum) / scale);
}

double Problem::volume_share(const std::vector<std::vector<double>>& points) const {
  std::vector<std::vector<double>> scaled = points;
  if (log_volume) {
    for (auto& point : scaled) {
      for (double& value : point)
        value = std::log(value);
    }
  }
  return hypervolume(std::move(scaled), reference) / max_volume;
}

double hypervolume(std::vector<std::vector<double>> points, const std::vector<double>& reference) {
  std::sort(points.begin(), points.end());
  double volume = 0.0;
  double ceiling = reference[1];
  for (const auto& point : points) {
    if (point[0] >= reference[0]) break;
    if (point[1] >= ceiling) continue;
    volume += (reference[0] - point[0]) * (ceiling - point[1]);
    ceiling = point[1];
  }
  return volume;
}

}  // namespace steptune::search_quality
