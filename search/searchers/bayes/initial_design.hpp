// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Space-filling points before there is a model: a Sobol sequence in the quantiles of the
/// parameters, shifted at random by the seed.
class InitialDesign {
 public:
  InitialDesign(const SearchSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  /// Number of points worth having in this space.
  [[nodiscard]] int default_size() const;

  /// The first point of the sequence that satisfies the constraints and that `admissible` accepts;
  /// nothing if none of the first 16 384 does.
  [[nodiscard]] std::optional<Point> next(
      const std::function<bool(std::span<const double>)>& admissible) const;

 private:
  const SearchSpace& space_;
  std::uint64_t seed_;
};

}  // namespace steptune::bayes
