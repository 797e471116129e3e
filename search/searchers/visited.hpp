// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "common/rng.hpp"
#include "search/searcher.hpp"
#include "search/searchers/point_set.hpp"
#include "search/space/search_space.hpp"

namespace steptune {

/// Configurations of a space that a searcher skips: those that were tried or are running. Not
/// thread-safe.
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

/// Returns `visited` together with the running configurations.
[[nodiscard]] Visited with_running(const Visited& visited, std::span<const Configuration> running);

/// Draws a random configuration whose point `admissible` accepts. If many draws are not accepted,
/// enumerates the space and picks one of the remaining points. If no configuration is found,
/// returns the reason, for people: none is left, or the space is too large to enumerate.
[[nodiscard]] tl::expected<Configuration, std::string> draw_unvisited(
    const SearchSpace& space, const std::function<bool(std::span<const double>)>& admissible,
    Rng& rng);

/// True unless the request gives the point an infinite price.
[[nodiscard]] bool has_finite_price(const SuggestRequest& request, const SearchSpace& space,
                                    std::span<const double> point);

/// Draws a random configuration that is not in `visited`, as `draw_unvisited` does. Draws one of
/// infinite price only if no other is found.
[[nodiscard]] tl::expected<Configuration, std::string> draw_by_price(const SearchSpace& space,
                                                                     const Visited& visited,
                                                                     const SuggestRequest& request,
                                                                     Rng& rng);

}  // namespace steptune
