// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/tensor.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::bayes {
namespace {

double* mutable_data(const double* data) {
  // from_blob takes a non-const pointer; the tensors made here are read only.
  return const_cast<double*>(data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

at::Tensor as_tensor(const Matrix& matrix) {
  return at::from_blob(
      mutable_data(matrix.data()),
      {static_cast<std::int64_t>(matrix.rows()), static_cast<std::int64_t>(matrix.cols())},
      at::kDouble);
}

at::Tensor as_tensor(std::span<const double> values) {
  return at::from_blob(mutable_data(values.data()), {static_cast<std::int64_t>(values.size())},
                       at::kDouble);
}

std::optional<at::Tensor> cholesky_with_jitter(const at::Tensor& covariance) {
  const double scale = covariance.diagonal().mean().item<double>();
  if (!std::isfinite(scale)) return std::nullopt;
  at::Tensor matrix = covariance;
  for (double jitter = 0.0; jitter < 0.05; jitter = jitter == 0.0 ? 1e-10 : jitter * 100.0) {
    if (jitter > 0.0) {
      matrix = covariance.clone();
      matrix.diagonal().add_(jitter * scale);
    }
    auto [factor, info] = at::linalg_cholesky_ex(matrix, false, false);
    if (info.item<int>() == 0) return factor;
  }
  return std::nullopt;
}

}  // namespace steptune::bayes
