// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/linear_algebra.hpp"

#include <cmath>

namespace steptune::bayes {

Block block_of(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.cols()};
}

Block block_of(const Matrix& matrix, std::size_t row, std::size_t col, std::size_t rows,
               std::size_t cols) {
  return {matrix.data() + row * matrix.cols() + col, rows, cols, matrix.cols()};
}

MutableBlock block_of(Matrix& matrix, std::size_t row, std::size_t col, std::size_t rows,
                      std::size_t cols) {
  return {matrix.data() + row * matrix.cols() + col, rows, cols, matrix.cols()};
}

const LinearAlgebra& LinearAlgebra::instance() {
#ifdef STEPTUNE_LINEAR_ALGEBRA_AVX2
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2) return linear_algebra_avx2();
#endif
  return linear_algebra_baseline();
}

bool cholesky_with_jitter(Matrix& covariance) {
  const std::size_t size = covariance.rows();
  double mean = 0.0;
  for (std::size_t i = 0; i < size; ++i)
    mean += covariance(i, i) / static_cast<double>(size);
  if (!std::isfinite(mean)) return false;
  const Matrix original = covariance;
  for (double jitter = 0.0; jitter < 0.05; jitter = jitter == 0.0 ? 1e-10 : jitter * 100.0) {
    if (jitter > 0.0) {
      covariance = original;
      for (std::size_t i = 0; i < size; ++i)
        covariance(i, i) += jitter * mean;
    }
    if (LinearAlgebra::instance().cholesky(block_of(covariance, 0, 0, size, size))) return true;
  }
  return false;
}

}  // namespace steptune::bayes
