// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/linear_algebra.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

/// Odd size, so that vectorized loops have a remainder.
constexpr std::size_t k_size = 67;

Matrix random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Rng rng(seed, "linear algebra", 1);
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i)
    matrix.data()[i] = rng.normal();
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.cols(), matrix.rows());
  for (std::size_t i = 0; i < matrix.rows(); ++i)
    for (std::size_t k = 0; k < matrix.cols(); ++k)
      result(k, i) = matrix(i, k);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < b.cols(); ++j)
      for (std::size_t k = 0; k < a.cols(); ++k)
        result(i, j) += a(i, k) * b(k, j);
  return result;
}

MutableBlock whole(Matrix& matrix) {
  return block_of(matrix, 0, 0, matrix.rows(), matrix.cols());
}

void expect_near(const Matrix& actual, const Matrix& expected) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  for (std::size_t i = 0; i < actual.rows(); ++i)
    for (std::size_t k = 0; k < actual.cols(); ++k)
      ASSERT_NEAR(actual(i, k), expected(i, k), 1e-9) << i << ", " << k;
}

/// Returns a symmetric positive definite matrix.
Matrix covariance() {
  const Matrix half = random_matrix(k_size, k_size, 1);
  Matrix result = product(half, transposed(half));
  for (std::size_t i = 0; i < k_size; ++i)
    result(i, i) += 1.0;
  return result;
}

Matrix lower_part(Matrix matrix) {
  for (std::size_t i = 0; i < matrix.rows(); ++i)
    for (std::size_t k = i + 1; k < matrix.cols(); ++k)
      matrix(i, k) = 0.0;
  return matrix;
}

class LinearAlgebraBuild : public ::testing::TestWithParam<const LinearAlgebra*> {
 protected:
  const LinearAlgebra& algebra_ = *GetParam();
};

TEST_P(LinearAlgebraBuild, MultipliesMatricesAndVectors) {
  const Matrix a = random_matrix(5, k_size, 2);
  const Matrix b = random_matrix(k_size, 7, 3);
  const Matrix expected = product(a, b);
  Matrix result(5, 7);
  algebra_.multiply(block_of(a), block_of(b), whole(result));
  expect_near(result, expected);
  algebra_.subtract_product(block_of(a), block_of(b), whole(result));
  expect_near(result, Matrix(5, 7));
  const Matrix turned = transposed(b);
  algebra_.multiply_by_transpose(block_of(a), block_of(turned), whole(result));
  expect_near(result, expected);

  const Matrix x = random_matrix(k_size, 1, 4);
  Matrix applied(5, 1);
  algebra_.apply(block_of(a), {x.data(), k_size}, {applied.data(), 5});
  expect_near(applied, product(a, x));
  Matrix back(k_size, 1);
  algebra_.add_applied_transpose(block_of(a), {applied.data(), 5}, {back.data(), k_size});
  expect_near(back, product(transposed(a), applied));
}

TEST_P(LinearAlgebraBuild, FactorsAndInvertsACovariance) {
  const Matrix matrix = covariance();
  Matrix factor = matrix;
  ASSERT_TRUE(algebra_.cholesky(whole(factor)));
  const Matrix lower = lower_part(factor);
  expect_near(product(lower, transposed(lower)), matrix);

  Matrix identity(k_size, k_size);
  for (std::size_t i = 0; i < k_size; ++i)
    identity(i, i) = 1.0;
  Matrix inverse(k_size, k_size);
  algebra_.invert_lower(block_of(factor), whole(inverse));
  expect_near(product(inverse, lower), identity);
  algebra_.inverse_of_product(block_of(factor), whole(inverse));
  expect_near(product(inverse, matrix), identity);
}

TEST_P(LinearAlgebraBuild, RefusesAMatrixThatIsNotPositiveDefinite) {
  Matrix matrix = covariance();
  matrix(3, 3) = -1.0;
  EXPECT_FALSE(algebra_.cholesky(whole(matrix)));
}

/// Returns the builds that this processor can run.
std::vector<const LinearAlgebra*> builds() {
  return {&linear_algebra_baseline(), &LinearAlgebra::instance()};
}
INSTANTIATE_TEST_SUITE_P(Builds, LinearAlgebraBuild, ::testing::ValuesIn(builds()));

TEST(CholeskyWithJitter, RepairsASingularMatrix) {
  Matrix ones(4, 4);
  for (std::size_t i = 0; i < 16; ++i)
    ones.data()[i] = 1.0;
  EXPECT_TRUE(cholesky_with_jitter(ones));
  Matrix not_finite(2, 2);
  not_finite(0, 0) = std::nan("");
  EXPECT_FALSE(cholesky_with_jitter(not_finite));
}

}  // namespace
}  // namespace steptune::bayes
