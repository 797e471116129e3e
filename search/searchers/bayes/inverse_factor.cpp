// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/inverse_factor.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/tensor.hpp"

namespace steptune::bayes {
namespace {

// The least share of its variance that a further value may add to what is known.
constexpr double k_least_news = 1e-10;

std::int64_t index(std::size_t value) {
  return static_cast<std::int64_t>(value);
}

at::Tensor new_block(std::size_t block) {
  return at::zeros({index(InverseFactor::k_block), index((block + 1) * InverseFactor::k_block)},
                   at::kDouble);
}

}  // namespace

InverseFactor::InverseFactor(const at::Tensor& matrix) {
  const at::InferenceMode no_autograd;
  auto factor = cholesky_with_jitter(matrix);
  if (!factor) factor = at::diag(matrix.diagonal().sqrt());
  size_ = static_cast<std::size_t>(matrix.size(0));
  for (std::size_t first = 0; first < size_; first += k_block) {
    // W = L^-1 by blocks of rows (L: Rasmussen and Williams 2006, algorithm 2.1):
    // the inverse of [A 0; B C] is [A^-1 0; -C^-1 B A^-1, C^-1].
    const std::size_t count = std::min(k_block, size_ - first);
    const at::Tensor rows = factor->narrow(0, index(first), index(count));
    const at::Tensor corner = at::linalg_solve_triangular(
        rows.narrow(1, index(first), index(count)), at::eye(index(count), at::kDouble), false);
    at::Tensor block = new_block(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t width = (b + 1) * k_block;
      block.narrow(0, 0, index(count))
          .narrow(1, 0, index(width))
          .sub_(at::mm(rows.narrow(1, index(b * k_block), index(k_block)), blocks_[b]));
    }
    at::Tensor before = block.narrow(0, 0, index(count)).narrow(1, 0, index(first));
    before.copy_(at::mm(corner, before));
    block.narrow(0, 0, index(count)).narrow(1, index(first), index(count)).copy_(corner);
    blocks_.push_back(std::move(block));
  }
}

at::Tensor InverseFactor::rows_of(std::size_t block) const {
  const std::size_t first = block * k_block;
  const std::size_t count = std::min(k_block, size_ - first);
  return blocks_[block].narrow(0, 0, index(count)).narrow(1, 0, index(first + count));
}

std::vector<double> InverseFactor::projected(std::span<const double> covariances) const {
  const at::InferenceMode no_autograd;
  std::vector<double> result(size_);
  const at::Tensor column = as_tensor(covariances.first(size_));
  at::Tensor all = as_tensor(std::span<const double>(result));
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const at::Tensor rows = rows_of(b);
    all.narrow(0, index(b * k_block), rows.size(0))
        .copy_(at::mv(rows, column.narrow(0, 0, rows.size(1))));
  }
  return result;
}

double InverseFactor::append_projected(std::span<const double> projected, double variance) {
  const at::InferenceMode no_autograd;
  const at::Tensor all = as_tensor(projected.first(size_));
  at::Tensor row = at::zeros({index(size_)}, at::kDouble);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const at::Tensor rows = rows_of(b);
    row.narrow(0, 0, rows.size(1))
        .sub_(at::mv(rows.t(), all.narrow(0, index(b * k_block), rows.size(0))));
  }
  const double known = at::dot(all, all).item<double>();
  const double news = variance - known;
  const double pivot = std::sqrt(news > k_least_news * variance ? news : k_least_news * variance);
  if (size_ % k_block == 0) {
    blocks_.push_back(new_block(blocks_.size()));
  } else if (blocks_.back().use_count() > 1) {
    blocks_.back() = blocks_.back().clone();
  }
  at::Tensor target = blocks_.back().select(0, index(size_ % k_block));
  target.narrow(0, 0, index(size_)).copy_(row.div_(pivot));
  target.data_ptr<double>()[size_] = 1.0 / pivot;
  ++size_;
  return pivot;
}

std::vector<double> InverseFactor::solve(std::span<const double> values) const {
  const at::InferenceMode no_autograd;
  std::vector<double> result(size_);
  at::Tensor solved = as_tensor(std::span<const double>(result));
  const at::Tensor right = as_tensor(values);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const at::Tensor rows = rows_of(b);
    const at::Tensor projected = at::mv(rows, right.narrow(0, 0, rows.size(1)));
    solved.narrow(0, 0, rows.size(1)).add_(at::mv(rows.t(), projected));
  }
  return result;
}

std::vector<double> InverseFactor::precisions() const {
  const at::InferenceMode no_autograd;
  std::vector<double> result(size_);
  at::Tensor sums = as_tensor(std::span<const double>(result));
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const at::Tensor rows = rows_of(b);
    sums.narrow(0, 0, rows.size(1)).add_(rows.mul(rows).sum(0));
  }
  return result;
}

std::vector<double> InverseFactor::explained(const Matrix& covariances, std::size_t known) const {
  const at::InferenceMode no_autograd;
  std::vector<double> result(covariances.rows());
  const at::Tensor rows = as_tensor(covariances);
  for (std::size_t b = 0; b * k_block < std::min(known, size_); ++b) {
    const at::Tensor factor = rows_of(b);
    const at::Tensor projected = at::mm(rows.narrow(1, 0, factor.size(1)), factor.t());
    const double* value = projected.data_ptr<double>();
    const auto count = static_cast<std::size_t>(factor.size(0));
    for (double& squares : result) {
      // Four sums at once: one alone would wait for every addition.
      double sums[4] = {};
      for (std::size_t k = 0; k < count; ++k, ++value)
        sums[k % 4] += *value * *value;
      squares += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
  return result;
}

}  // namespace steptune::bayes
