// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Excludes points that must run out of memory. If a parameter is declared to increase the memory
/// need and one of its values ran out, no larger value fits with all else equal (no smaller one, if
/// it decreases the need).
class MemoryRule {
 public:
  explicit MemoryRule(const SearchSpace& space);

  /// Records a trial at this point that ran out of memory.
  void add(const Point& point);
  /// True if a trial at this point must run out of memory, too.
  [[nodiscard]] bool excludes(std::span<const double> point) const;

 private:
  std::vector<MemoryEffect> effects_;
  std::vector<Point> failures_;
};

}  // namespace steptune::bayes
