// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <ATen/ATen.h>

#include "search/searchers/bayes/gaussian_process.hpp"

namespace steptune::bayes {

// Shared by the likelihood and the posterior; LibTorch stays inside the files that include this.

/// The matrix as a tensor that shares its memory and must not outlive it.
[[nodiscard]] at::Tensor as_tensor(const Matrix& matrix);
[[nodiscard]] at::Tensor as_tensor(const std::vector<double>& values);

/// Inverse lengthscale of each feature: (features).
[[nodiscard]] at::Tensor feature_scales(const FeatureGroups& groups,
                                        const Hyperparameters& hyperparameters);

/// Squared distances between the rows of two matrices of scaled features.
[[nodiscard]] at::Tensor squared_distances(const at::Tensor& a, const at::Tensor& b);

/// Matern-5/2 covariance of squared distances, amplitude 1; `derivative`, where wanted, receives
/// d covariance / d squared distance. Overwrites `distances`.
[[nodiscard]] at::Tensor matern52(at::Tensor distances, at::Tensor* derivative = nullptr);

/// Lower Cholesky factor of `covariance`, with jitter relative to its diagonal as needed, from
/// 1e-10 to 1e-2; nothing if even that does not help.
[[nodiscard]] std::optional<at::Tensor> cholesky_with_jitter(const at::Tensor& covariance);

}  // namespace steptune::bayes
