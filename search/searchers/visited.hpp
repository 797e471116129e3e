// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/point_set.hpp"
#include "search/space/search_space.hpp"

namespace steptune {

/// Configurations of a space that need not be tried again. Not thread-safe.
class Visited {
 public:
  /// `space` must outlive this object.
  explicit Visited(const SearchSpace& space) : space_(&space) {}

  /// Adds a configuration. Ignores configurations outside the space (from an earlier study).
  void add(const Configuration& configuration);
  /// `point` must come from `SearchSpace::snap`.
  [[nodiscard]] bool contains(std::span<const double> point) const {
    return points_.contains(point);
  }

 private:
  const SearchSpace* space_;
  PointSet points_;
};

}  // namespace steptune
