// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <ATen/ATen.h>

#include "search/searchers/bayes/kernel.hpp"

namespace steptune::bayes {

// Shared by the likelihood and the posterior; LibTorch stays inside the files that include this.

/// The matrix as a tensor that shares its memory and must not outlive it.
[[nodiscard]] at::Tensor as_tensor(const Matrix& matrix);
[[nodiscard]] at::Tensor as_tensor(std::span<const double> values);

/// The covariances of all pairs times `amplitude`, and what belongs on the diagonal.
[[nodiscard]] at::Tensor covariance_matrix(const PairCovariances& pairs,
                                           const std::vector<double>& diagonal, double amplitude);

/// The lower triangle of the covariances of all rows with each other, and what belongs on the
/// diagonal; above it there is anything. `columns` are those of `features`.
[[nodiscard]] at::Tensor lower_covariance(const Kernel& kernel, const Matrix& features,
                                          const FeatureColumns& columns,
                                          const FeatureGroups& groups,
                                          std::span<const double> diagonal);

/// Lower Cholesky factor of `covariance`, with jitter relative to its diagonal as needed, from
/// 1e-10 to 1e-2; nothing if even that does not help.
[[nodiscard]] std::optional<at::Tensor> cholesky_with_jitter(const at::Tensor& covariance);

}  // namespace steptune::bayes
