// SPDX-License-Identifier: Apache-2.0
// CMake compiles this file once per instruction set (linear_algebra.hpp). Each time it
// renames Eigen's namespace, so that the linker cannot mix functions of two instruction sets.

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "search/searchers/bayes/linear_algebra.hpp"

namespace steptune::bayes {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMajor, Eigen::Unaligned, Eigen::OuterStride<>>;
using MutableMap = Eigen::Map<RowMajor, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using MutableVector = Eigen::Map<Eigen::VectorXd>;

Eigen::Index index(std::size_t value) {
  return static_cast<Eigen::Index>(value);
}

ConstMap map(const Block& block) {
  return {block.data, index(block.rows), index(block.cols),
          Eigen::OuterStride<>(index(block.stride))};
}

MutableMap map(const MutableBlock& block) {
  return {block.data, index(block.rows), index(block.cols),
          Eigen::OuterStride<>(index(block.stride))};
}

void multiply(Block a, Block b, MutableBlock result) {
  map(result).noalias() = map(a) * map(b);
}

void subtract_product(Block a, Block b, MutableBlock result) {
  map(result).noalias() -= map(a) * map(b);
}

void multiply_by_transpose(Block a, Block b, MutableBlock result) {
  map(result).noalias() = map(a) * map(b).transpose();
}

void apply(Block a, std::span<const double> x, std::span<double> result) {
  MutableVector(result.data(), index(result.size())).noalias() =
      map(a) * ConstVector(x.data(), index(x.size()));
}

void add_applied_transpose(Block a, std::span<const double> x, std::span<double> result) {
  MutableVector(result.data(), index(result.size())).noalias() +=
      map(a).transpose() * ConstVector(x.data(), index(x.size()));
}

bool cholesky(MutableBlock matrix) {
  MutableMap in_place = map(matrix);
  return Eigen::LLT<Eigen::Ref<RowMajor, 0, Eigen::OuterStride<>>, Eigen::Lower>(in_place).info() ==
         Eigen::Success;
}

/// Matrices larger than this are split in halves: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1, C^-1].
/// This skips the zeros, which the triangular solver would multiply.
constexpr Eigen::Index k_base_size = 32;

using ConstRef = Eigen::Ref<const RowMajor, 0, Eigen::OuterStride<>>;
using MutableRef = Eigen::Ref<RowMajor, 0, Eigen::OuterStride<>>;

void invert_lower_into(const ConstRef& lower, MutableRef result) {
  const Eigen::Index size = lower.rows();
  if (size <= k_base_size) {
    result.setIdentity();
    lower.triangularView<Eigen::Lower>().solveInPlace(result);
    return;
  }
  const Eigen::Index half = size / 2;
  const Eigen::Index rest = size - half;
  invert_lower_into(lower.topLeftCorner(half, half), result.topLeftCorner(half, half));
  invert_lower_into(lower.bottomRightCorner(rest, rest), result.bottomRightCorner(rest, rest));
  result.topRightCorner(half, rest).setZero();
  const RowMajor product = lower.bottomLeftCorner(rest, half) * result.topLeftCorner(half, half);
  result.bottomLeftCorner(rest, half).noalias() = -(result.bottomRightCorner(rest, rest) * product);
}

/// Computes the lower triangle of W^T W for a lower triangular W; splits in halves to skip the
/// zeros.
void square_into(const ConstRef& factor, MutableRef result) {
  const Eigen::Index size = factor.rows();
  if (size <= k_base_size) {
    result.noalias() = factor.transpose() * factor;
    return;
  }
  const Eigen::Index half = size / 2;
  const Eigen::Index rest = size - half;
  const auto below = factor.bottomLeftCorner(rest, half);
  const auto corner = factor.bottomRightCorner(rest, rest);
  square_into(factor.topLeftCorner(half, half), result.topLeftCorner(half, half));
  square_into(corner, result.bottomRightCorner(rest, rest));
  result.topLeftCorner(half, half).noalias() += below.transpose() * below;
  result.bottomLeftCorner(rest, half).noalias() = corner.transpose() * below;
}

void invert_lower(Block lower, MutableBlock result) {
  invert_lower_into(map(lower), map(result));
}

void inverse_of_product(Block factor, MutableBlock result) {
  RowMajor inverse(index(factor.rows), index(factor.cols));
  invert_lower_into(map(factor), inverse);
  MutableMap squared = map(result);
  square_into(inverse, squared);
  squared.triangularView<Eigen::StrictlyUpper>() = squared.transpose();
}

}  // namespace

const LinearAlgebra& STEPTUNE_LINEAR_ALGEBRA_BUILD() {
  static constexpr LinearAlgebra k_functions{
      multiply, subtract_product, multiply_by_transpose, apply, add_applied_transpose,
      cholesky, invert_lower,     inverse_of_product};
  return k_functions;
}

}  // namespace steptune::bayes
