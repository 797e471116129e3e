// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Space-filling points before there is a model: a Sobol sequence in the quantiles of the
/// parameters, shifted at random by the seed. Of a parameter with two levels the sequence tells the
/// first binary digit alone, in which its first eight points have but four different columns: of
/// more such parameters some would change together in all of them. There, the first `default_size`
/// points take their levels from random columns, each level as often as the other.
class InitialDesign {
 public:
  InitialDesign(const SearchSpace& space, std::uint64_t seed);

  /// Number of points worth having in this space.
  [[nodiscard]] int default_size() const;

  /// The first point of the sequence that satisfies the constraints and that `admissible` accepts;
  /// nothing if none of the first 16 384 does.
  [[nodiscard]] std::optional<Point> next(
      const std::function<bool(std::span<const double>)>& admissible) const;

 private:
  /// Of a parameter with two levels, by point.
  struct Column {
    std::size_t parameter = 0;
    std::vector<double> quantiles;
  };
  void add_column(std::size_t parameter);

  const SearchSpace& space_;
  std::uint64_t seed_;
  std::vector<Column> columns_;
};

}  // namespace steptune::bayes
