// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Space-filling points for use before there is a model: a Sobol sequence in the parameters'
/// quantiles, shifted at random by the seed. The level of a two-level parameter depends only on the
/// first binary digit of its coordinate. In the first eight points, these digits form only four
/// different columns. So with more than four two-level parameters, some would always change
/// together. In that case, their levels in the first `default_size` points come from random
/// columns, which have each level in half of the points.
class InitialDesign {
 public:
  InitialDesign(const SearchSpace& space, std::uint64_t seed);

  /// Returns the number of initial points that is useful for this space.
  [[nodiscard]] int default_size() const;

  /// Returns the first point of the sequence that satisfies the constraints and that `admissible`
  /// accepts; nullopt if none of the first `k_most_draws` does.
  [[nodiscard]] std::optional<Point> next(
      const std::function<bool(std::span<const double>)>& admissible) const;

 private:
  /// Quantiles of a two-level parameter, one for each point.
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
