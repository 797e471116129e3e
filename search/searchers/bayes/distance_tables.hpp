// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Squared distances of rows from others, dimension by dimension. Rows that agree in a dimension
/// share a table there: in discrete spaces there are few.
class DistanceTables {
 public:
  /// What a dimension makes of so many others stays in the second-level cache.
  static constexpr std::size_t k_others_at_once = 128;

  /// Of rows [first, last) of `features`, which outlives this. `weights` of the dimensions are
  /// inverse squares of their lengthscales.
  DistanceTables(const Matrix& features, std::size_t first, std::size_t last,
                 const FeatureGroups& groups, std::span<const double> weights);

  /// Weighted squared distances from `others` [begin, begin + count), a row for each table.
  void fill(const FeatureColumns& others, std::size_t begin, std::size_t count,
            Matrix& tables) const;
  /// Where the `row`-th row's are in `tables`, dimension by dimension.
  void find(const Matrix& tables, std::size_t row, std::span<const double*> by_dimension) const;

  [[nodiscard]] std::size_t dimensions() const { return dimensions_.size(); }

 private:
  struct Dimension {
    std::pair<std::size_t, std::size_t> range;  ///< first and one past last feature
    double weight = 1.0;
    std::size_t first_table = 0;
    std::vector<std::size_t> rows;   ///< one of each different value, with a table each
    std::vector<std::size_t> place;  ///< in `rows`, for each row
  };

  void tell_apart(std::size_t first, std::size_t last, Dimension& dimension) const;

  const Matrix& features_;
  std::vector<Dimension> dimensions_;
  std::size_t tables_ = 0;
};

}  // namespace steptune::bayes
