// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/inverse_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace steptune::bayes {
namespace {

// Smallest unexplained share of an appended value's variance. If earlier values explain more, this
// share counts as unexplained.
constexpr double k_least_news = 1e-10;

std::shared_ptr<Matrix> new_block(std::size_t block) {
  return std::make_shared<Matrix>(InverseFactor::k_block, (block + 1) * InverseFactor::k_block);
}

const LinearAlgebra& algebra() {
  return LinearAlgebra::instance();
}

/// Returns the square roots of the diagonal: the factor of independent values.
Matrix diagonal_factor(const std::vector<double>& diagonal) {
  Matrix factor(diagonal.size(), diagonal.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    factor(i, i) = std::sqrt(diagonal[i]);
  return factor;
}

}  // namespace

InverseFactor::InverseFactor(Matrix matrix) : size_(matrix.rows()) {
  std::vector<double> diagonal(size_);
  for (std::size_t i = 0; i < size_; ++i)
    diagonal[i] = matrix(i, i);
  if (!cholesky_with_jitter(matrix)) matrix = diagonal_factor(diagonal);
  Matrix corner(k_block, k_block);
  for (std::size_t first = 0; first < size_; first += k_block) {
    // W = L^-1 by blocks of rows (L: Rasmussen and Williams 2006, algorithm 2.1):
    // the inverse of [A 0; B C] is [A^-1 0; -C^-1 B A^-1, C^-1].
    const std::size_t count = std::min(k_block, size_ - first);
    const MutableBlock inverse = block_of(corner, 0, 0, count, count);
    algebra().invert_lower(block_of(std::as_const(matrix), first, first, count, count), inverse);
    Matrix below(count, first);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t width = (b + 1) * k_block;
      algebra().subtract_product(
          block_of(std::as_const(matrix), first, b * k_block, count, k_block),
          block_of(*blocks_[b]), block_of(below, 0, 0, count, width));
    }
    auto block = new_block(blocks_.size());
    if (first > 0) {
      algebra().multiply(block_of(std::as_const(corner), 0, 0, count, count), block_of(below),
                         block_of(*block, 0, 0, count, first));
    }
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(corner.row(i).data(), count, block->row(i).data() + first);
    blocks_.push_back(std::move(block));
  }
}

Block InverseFactor::rows_of(std::size_t block) const {
  const std::size_t first = block * k_block;
  const std::size_t count = std::min(k_block, size_ - first);
  return block_of(std::as_const(*blocks_[block]), 0, 0, count, first + count);
}

std::vector<double> InverseFactor::projected(std::span<const double> covariances) const {
  std::vector<double> result(size_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block rows = rows_of(b);
    algebra().apply(rows, covariances.first(rows.cols),
                    std::span(result).subspan(b * k_block, rows.rows));
  }
  return result;
}

double InverseFactor::append_projected(std::span<const double> projected, double variance) {
  const std::span<const double> all = projected.first(size_);
  std::vector<double> row(size_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block rows = rows_of(b);
    algebra().add_applied_transpose(rows, all.subspan(b * k_block, rows.rows),
                                    std::span(row).first(rows.cols));
  }
  const double known = std::inner_product(all.begin(), all.end(), all.begin(), 0.0);
  const double news = variance - known;
  const double pivot = std::sqrt(news > k_least_news * variance ? news : k_least_news * variance);
  if (size_ % k_block == 0) {
    blocks_.push_back(new_block(blocks_.size()));
  } else if (blocks_.back().use_count() > 1) {
    blocks_.back() = std::make_shared<Matrix>(*blocks_.back());
  }
  const std::span<double> target = blocks_.back()->row(size_ % k_block);
  std::ranges::transform(row, target.begin(), [&](double value) { return -value / pivot; });
  target[size_] = 1.0 / pivot;
  ++size_;
  return pivot;
}

std::vector<double> InverseFactor::solve(std::span<const double> values) const {
  const std::vector<double> right = projected(values);
  std::vector<double> result(size_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block rows = rows_of(b);
    algebra().add_applied_transpose(rows, std::span(right).subspan(b * k_block, rows.rows),
                                    std::span(result).first(rows.cols));
  }
  return result;
}

std::vector<double> InverseFactor::precisions() const {
  std::vector<double> result(size_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block rows = rows_of(b);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      const double* value = rows.data + i * rows.stride;
      for (std::size_t k = 0; k < rows.cols; ++k)
        result[k] += value[k] * value[k];
    }
  }
  return result;
}

std::vector<double> InverseFactor::explained(const Matrix& covariances, std::size_t known) const {
  std::vector<double> result(covariances.rows());
  Matrix projected;
  for (std::size_t b = 0; b * k_block < std::min(known, size_); ++b) {
    const Block factor = rows_of(b);
    projected.reshape(covariances.rows(), factor.rows);
    algebra().multiply_by_transpose(block_of(covariances, 0, 0, covariances.rows(), factor.cols),
                                    factor,
                                    block_of(projected, 0, 0, projected.rows(), factor.rows));
    for (std::size_t i = 0; i < result.size(); ++i) {
      // Four sums, because each addition to a single sum would wait for the addition before it.
      double sums[4] = {};
      const std::span<const double> row = std::as_const(projected).row(i);
      for (std::size_t k = 0; k < row.size(); ++k)
        sums[k % 4] += row[k] * row[k];
      result[i] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
  return result;
}

}  // namespace steptune::bayes
