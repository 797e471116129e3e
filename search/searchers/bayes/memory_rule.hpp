// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// What running out of memory teaches for certain: where a parameter is declared to increase the
/// memory that a trial needs and a value of it ran out, no larger value fits with everything else
/// equal (and the other way round for one that decreases it).
class MemoryRule {
 public:
  explicit MemoryRule(const SearchSpace& space);

  /// A trial at this point ran out of memory.
  void add(const Point& point);
  /// A trial at this point must run out of memory too.
  [[nodiscard]] bool excludes(std::span<const double> point) const;

 private:
  std::vector<MemoryEffect> effects_;
  std::vector<Point> failures_;
};

}  // namespace steptune::bayes
