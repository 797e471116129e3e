// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <ATen/ATen.h>

#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

// LibTorch stays inside the files that include this.

/// The matrix as a tensor that shares its memory and must not outlive it.
[[nodiscard]] at::Tensor as_tensor(const Matrix& matrix);
[[nodiscard]] at::Tensor as_tensor(std::span<const double> values);

/// Lower Cholesky factor of `covariance`, with jitter relative to its diagonal as needed, from
/// 1e-10 to 1e-2; nothing if even that does not help.
[[nodiscard]] std::optional<at::Tensor> cholesky_with_jitter(const at::Tensor& covariance);

}  // namespace steptune::bayes
