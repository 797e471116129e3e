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

/// What a zero-mean normal of some covariance makes of its targets.
struct MarginalLikelihood {
  double negative_log = 0.0;  ///< but for a constant
  double fit = 0.0;           ///< targets' covariance^-1 targets
  at::Tensor inverse;         ///< covariance^-1, contiguous
  at::Tensor weights;         ///< covariance^-1 targets
};

/// Nothing where `cholesky_with_jitter` has nothing (Rasmussen and Williams 2006, section 5.4.1).
[[nodiscard]] std::optional<MarginalLikelihood> marginal_likelihood(const at::Tensor& covariance,
                                                                    const at::Tensor& targets);

}  // namespace steptune::bayes
