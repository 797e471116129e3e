// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/covariance.hpp"

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

at::Tensor as_tensor(const std::vector<double>& values) {
  return at::from_blob(mutable_data(values.data()), {static_cast<std::int64_t>(values.size())},
                       at::kDouble);
}

at::Tensor feature_scales(const FeatureGroups& groups, const Hyperparameters& hyperparameters) {
  at::Tensor scales =
      at::empty({static_cast<std::int64_t>(groups.group_of_feature.size())}, at::kDouble);
  double* data = scales.data_ptr<double>();
  for (const std::size_t group : groups.group_of_feature) {
    *data++ = std::exp(-hyperparameters.log_lengthscales[group]);
  }
  return scales;
}

at::Tensor squared_distances(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor a_squares = a.mul(a).sum(1, true);
  const at::Tensor b_squares = b.mul(b).sum(1, true);
  at::Tensor distances = at::mm(a, b.t());
  distances.mul_(-2.0).add_(a_squares).add_(b_squares.t());
  return distances.clamp_min_(0.0);
}

at::Tensor matern52(at::Tensor distances, at::Tensor* derivative) {
  at::Tensor scaled = distances.mul_(5.0).sqrt_();
  const at::Tensor decay = scaled.neg().exp_();
  at::Tensor polynomial = scaled.add(1.0);
  if (derivative != nullptr) *derivative = polynomial.mul(decay).mul_(-5.0 / 6.0);
  return polynomial.addcmul_(scaled, scaled, 1.0 / 3.0).mul_(decay);
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
