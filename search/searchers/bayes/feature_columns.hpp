// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Rows of features kept feature by feature, so that the distances of one point from all of them
/// are computed in one sweep.
class FeatureColumns {
 public:
  explicit FeatureColumns(const Matrix& features) : columns_(features.cols()) {
    for (std::vector<double>& column : columns_)
      column.reserve(features.rows());
    for (std::size_t row = 0; row < features.rows(); ++row)
      append(features.row(row));
  }

  void append(std::span<const double> row) {
    for (std::size_t f = 0; f < columns_.size(); ++f)
      columns_[f].push_back(row[f]);
    ++rows_;
  }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::span<const double> column(std::size_t feature) const {
    return columns_[feature];
  }

 private:
  std::size_t rows_ = 0;
  std::vector<std::vector<double>> columns_;
};

}  // namespace steptune::bayes
