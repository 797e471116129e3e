// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// A rectangle of a row-major matrix; the matrix must outlive it. `stride` is the number of values
/// between the starts of two rows.
struct Block {
  const double* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};
struct MutableBlock {
  double* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};

[[nodiscard]] Block block_of(const Matrix& matrix);
[[nodiscard]] Block block_of(const Matrix& matrix, std::size_t row, std::size_t col,
                             std::size_t rows, std::size_t cols);
[[nodiscard]] MutableBlock block_of(Matrix& matrix, std::size_t row, std::size_t col,
                                    std::size_t rows, std::size_t cols);

/// Dense linear algebra on the calling thread, by Eigen. `instance` returns the fastest
/// implementation for this processor. Results are always the same on one processor, but other
/// processors may round differently. Shapes must fit; `result` must not overlap an argument.
struct LinearAlgebra {
  /// result = a b
  void (*multiply)(Block a, Block b, MutableBlock result);
  /// result -= a b
  void (*subtract_product)(Block a, Block b, MutableBlock result);
  /// result = a b^T
  void (*multiply_by_transpose)(Block a, Block b, MutableBlock result);
  /// result = a x
  void (*apply)(Block a, std::span<const double> x, std::span<double> result);
  /// result += a^T x
  void (*add_applied_transpose)(Block a, std::span<const double> x, std::span<double> result);
  /// Writes the Cholesky factor into the lower triangle and keeps the upper triangle. Returns false
  /// if the matrix is not positive definite; the lower triangle is then undefined.
  bool (*cholesky)(MutableBlock matrix);
  /// Inverts a lower triangular matrix; writes zeros above the diagonal.
  void (*invert_lower)(Block lower, MutableBlock result);
  /// Writes the inverse of L L^T, both triangles; `factor` is L.
  void (*inverse_of_product)(Block factor, MutableBlock result);

  [[nodiscard]] static const LinearAlgebra& instance();
};

/// Each of these functions returns a separate build of `linear_algebra_eigen.cpp`. The baseline
/// build uses only instructions that every processor of this architecture has.
[[nodiscard]] const LinearAlgebra& linear_algebra_baseline();
/// Returns the build for x86-64 with AVX2 and FMA. It exists if `STEPTUNE_LINEAR_ALGEBRA_AVX2` is
/// defined.
[[nodiscard]] const LinearAlgebra& linear_algebra_avx2();

/// Replaces the lower triangle of `covariance` by its Cholesky factor; the upper triangle becomes
/// undefined. Adds jitter to the diagonal as needed, from 1e-10 to 1e-2 of its mean. Returns false
/// if even that does not help.
[[nodiscard]] bool cholesky_with_jitter(Matrix& covariance);

}  // namespace steptune::bayes
