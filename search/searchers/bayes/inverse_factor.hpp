// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "search/searchers/bayes/linear_algebra.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// The inverse W of the Cholesky factor of a covariance matrix, lower triangular: W' W is the
/// inverse of the matrix, and what known values explain of a point's variance is the square of W
/// times its covariances. A further row of the matrix is a further row of W and costs the square of
/// the size. W is kept in blocks of rows, full ones shared between copies.
class InverseFactor {
 public:
  /// Of a matrix without rows.
  InverseFactor() = default;
  /// Of a symmetric matrix, of which the lower triangle is read; with jitter as far as needed.
  /// Independent values are the answer to a matrix that no jitter repairs.
  explicit InverseFactor(Matrix matrix);

  /// A further row and column of the matrix: covariances with all rows before it, and its own
  /// variance, which is raised a little where it says nothing new.
  void append(std::span<const double> covariances, double variance) {
    append_projected(projected(covariances), variance);
  }
  /// W times covariances with all rows: its square is what these explain of the variance.
  [[nodiscard]] std::vector<double> projected(std::span<const double> covariances) const;
  /// As `append`, of what `projected` made of the covariances; returns the square root of what is
  /// not explained of the variance.
  double append_projected(std::span<const double> projected, double variance);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The inverse of the matrix times `values`.
  [[nodiscard]] std::vector<double> solve(std::span<const double> values) const;
  /// The diagonal of the inverse of the matrix.
  [[nodiscard]] std::vector<double> precisions() const;
  /// For each row of covariances with at least the first `known` rows: how much of the variance
  /// these explain. Fewer explain less: what is left is then an upper bound. `known` is rounded up
  /// to a whole block.
  [[nodiscard]] std::vector<double> explained(const Matrix& covariances, std::size_t known) const;

  static constexpr std::size_t k_block = 64;

 private:
  [[nodiscard]] Block rows_of(std::size_t block) const;

  std::size_t size_ = 0;
  /// Block b: k_block rows and (b + 1) k_block columns, zeros above the diagonal.
  std::vector<std::shared_ptr<Matrix>> blocks_;
};

}  // namespace steptune::bayes
