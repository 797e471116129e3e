// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Excludes points that must run out of memory. The user may declare that larger values of a
/// parameter increase the memory need. If a trial then ran out of memory, no larger value fits if
/// all other parameters are equal. If larger values decrease the need, no smaller value fits.
class MemoryRule {
 public:
  explicit MemoryRule(const SearchSpace& space);

  /// Records a trial at this point that ran out of memory.
  void add(const Point& point);
  /// True if a trial at this point must run out of memory, too.
  [[nodiscard]] bool excludes(std::span<const double> point) const;

 private:
  std::vector<std::optional<MemoryEffect>> effects_;
  std::vector<Point> failures_;
};

}  // namespace steptune::bayes
