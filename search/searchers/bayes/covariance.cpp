// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/covariance.hpp"

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

at::Tensor covariance_matrix(const PairCovariances& pairs, const std::vector<double>& diagonal,
                             double amplitude) {
  const auto size = static_cast<std::int64_t>(diagonal.size());
  at::Tensor matrix = at::empty({size, size}, at::kDouble);
  double* data = matrix.data_ptr<double>();
  const double* value = pairs.values().data();
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double covariance = amplitude * *value++;
      data[i * diagonal.size() + k] = covariance;
      data[k * diagonal.size() + i] = covariance;
    }
    data[i * diagonal.size() + i] = diagonal[i];
  }
  return matrix;
}

at::Tensor lower_covariance(const Kernel& kernel, const Matrix& features,
                            const FeatureColumns& columns, const FeatureGroups& groups,
                            std::span<const double> diagonal) {
  constexpr std::size_t k_rows_at_once = 64;
  const std::size_t size = features.rows();
  at::Tensor matrix =
      at::zeros({static_cast<std::int64_t>(size), static_cast<std::int64_t>(size)}, at::kDouble);
  double* data = matrix.data_ptr<double>();
  Matrix rows;
  for (std::size_t first = 0; first < size; first += k_rows_at_once) {
    const std::size_t last = std::min(first + k_rows_at_once, size);
    kernel.between(features, first, last, columns, last, groups, rows);
    for (std::size_t i = first; i < last; ++i)
      std::copy_n(rows.row(i - first).data(), i, data + i * size);
  }
  for (std::size_t i = 0; i < size; ++i)
    data[i * size + i] = diagonal[i];
  return matrix;
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

std::optional<MarginalLikelihood> marginal_likelihood(const at::Tensor& covariance,
                                                      const at::Tensor& targets) {
  const auto factor = cholesky_with_jitter(covariance);
  if (!factor) return std::nullopt;
  MarginalLikelihood result;
  result.inverse = at::cholesky_inverse(*factor).contiguous();
  result.weights = at::mv(result.inverse, targets);
  result.fit = at::dot(result.weights, targets).item<double>();
  const double log_determinant = 2.0 * factor->diagonal().log().sum().item<double>();
  result.negative_log = 0.5 * (result.fit + log_determinant);
  return result;
}

}  // namespace steptune::bayes
