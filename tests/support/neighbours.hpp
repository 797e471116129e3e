// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune {

/// Returns `SearchSpace::neighbour_points` as configurations.
[[nodiscard]] inline std::vector<Configuration> neighbours_of(const SearchSpace& space,
                                                              const Configuration& configuration) {
  Point point = space.encode(configuration);
  (void)space.snap(point);
  const std::vector<double> rows = space.neighbour_points(point);
  std::vector<Configuration> found;
  for (auto row = rows.begin(); row != rows.end(); row += std::ssize(point))
    found.push_back(space.decode(Point(row, row + std::ssize(point))));
  return found;
}

}  // namespace steptune
