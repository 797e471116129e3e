// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Squared distances of some rows from other rows, for each dimension. Rows with the same value in
/// a dimension share a table. This saves time in discrete spaces, which have few different values.
class DistanceTables {
 public:
  /// Prepares tables for rows [first, last) of `features`, which must outlive this object.
  /// `weights` are the inverse squares of the dimensions' lengthscales.
  DistanceTables(const Matrix& features, std::size_t first, std::size_t last,
                 const FeatureGroups& groups, std::span<const double> weights);

  /// Computes the weighted squared distances from rows [begin, begin + count) of `others`. Writes
  /// one row of `tables` for each table.
  void fill(const FeatureColumns& others, std::size_t begin, std::size_t count,
            Matrix& tables) const;
  /// Sets `by_dimension` to the distances of the `row`-th row in `tables`, one pointer for each
  /// dimension.
  void find(const Matrix& tables, std::size_t row, std::span<const double*> by_dimension) const;

  [[nodiscard]] std::size_t dimensions() const { return dimensions_.size(); }

 private:
  struct Dimension {
    std::pair<std::size_t, std::size_t> range;  ///< first and one past last feature
    double weight = 1.0;
    std::size_t first_table = 0;
    std::vector<std::size_t> rows;   ///< one row for each different value; each has a table
    std::vector<std::size_t> place;  ///< index in `rows`, for each row
  };

  void find_distinct_rows(std::size_t first, std::size_t last, Dimension& dimension) const;

  const Matrix& features_;
  std::vector<Dimension> dimensions_;
  std::size_t tables_ = 0;
};

}  // namespace steptune::bayes
