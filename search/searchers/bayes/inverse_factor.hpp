// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "search/searchers/bayes/linear_algebra.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// The inverse W of the Cholesky factor of a covariance matrix, lower triangular. W' W is the
/// inverse of the matrix. If k are a point's covariances with the known values, |W k|^2 is the part
/// of the point's variance that these values explain. A further row of the matrix adds a row to W;
/// its cost grows with the square of the size. W is stored in blocks of rows; copies share full
/// blocks.
class InverseFactor {
 public:
  /// Makes the factor of a matrix without rows.
  InverseFactor() = default;
  /// Factorises a symmetric matrix. Reads only its lower triangle; adds jitter to the diagonal as
  /// needed. If no jitter helps, uses the diagonal alone, as for independent values.
  explicit InverseFactor(Matrix matrix);

  /// Adds a row and column to the matrix: `covariances` with all earlier rows, and the row's
  /// `variance`. If the row adds no information, its variance is raised slightly.
  void append(std::span<const double> covariances, double variance) {
    append_projected(projected(covariances), variance);
  }
  /// Returns W times a point's `covariances` with all rows. The squared length of the result is the
  /// part of the point's variance that the rows explain.
  [[nodiscard]] std::vector<double> projected(std::span<const double> covariances) const;
  /// Like `append`, for covariances that the function `projected` has multiplied by W. Returns the
  /// square root of the unexplained variance.
  double append_projected(std::span<const double> projected, double variance);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the inverse of the matrix times `values`.
  [[nodiscard]] std::vector<double> solve(std::span<const double> values) const;
  /// Returns the diagonal of the inverse of the matrix.
  [[nodiscard]] std::vector<double> precisions() const;
  /// Returns the part of each point's variance that the first `known` rows explain. Row i of
  /// `covariances` has point i's covariances with at least these rows. With fewer rows this part is
  /// smaller, so the remaining variance is an upper bound. Rounds `known` up to a whole block.
  [[nodiscard]] std::vector<double> explained(const Matrix& covariances, std::size_t known) const;

  /// Rows of a block. A square block takes 32 KiB.
  static constexpr std::size_t k_block = 64;

 private:
  [[nodiscard]] Block rows_of(std::size_t block) const;

  std::size_t size_ = 0;
  /// Block b has k_block rows and (b + 1) k_block columns, with zeros above the diagonal.
  std::vector<std::shared_ptr<Matrix>> blocks_;
};

}  // namespace steptune::bayes
