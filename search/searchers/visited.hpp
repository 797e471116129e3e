// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/point_set.hpp"
#include "search/space/search_space.hpp"

namespace steptune {

/// The configurations of a space that need not be tried again. Not thread safe.
class Visited {
 public:
  /// `space` outlives this object.
  explicit Visited(const SearchSpace& space) : space_(&space) {}

  /// Configurations that are not of the space (from an earlier study) are left out.
  void add(const Configuration& configuration);
  /// `point` is one that `SearchSpace::snap` has made.
  [[nodiscard]] bool contains(std::span<const double> point) const {
    return points_.contains(point);
  }

 private:
  const SearchSpace* space_;
  PointSet points_;
};

}  // namespace steptune
