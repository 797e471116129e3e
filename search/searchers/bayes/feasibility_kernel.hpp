// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Covariance of feasibility's latent function: the mean of the product of a Matern 5/2 per
/// dimension, which knows every interaction, and of the mean product of two of them, which knows
/// those of pairs (the last and the second order of Duvenaud, Nickisch and Rasmussen 2011,
/// "Additive Gaussian processes"). What makes trials fail is mostly that a few parameters are too
/// large together, whatever the others.
struct FeasibilityKernel {
  std::vector<double> lengthscales;  ///< by dimension
  double amplitude = 1.0;

  /// Covariances of rows [first, last) of `features` with all `others`, row by row, into `result`.
  void between(const Matrix& features, std::size_t first, std::size_t last,
               const FeatureColumns& others, const FeatureGroups& groups, Matrix& result) const;
  bool operator==(const FeasibilityKernel&) const = default;
};

/// What is believed of outcomes before any.
[[nodiscard]] FeasibilityKernel prior_kernel(const FeatureGroups& groups);

/// Value of the latent function at which an outcome is as likely true as it was so far.
[[nodiscard]] double mean_of(const std::vector<bool>& outcomes);

/// Kernel under which the outcomes, each given those before it, are likeliest, with a prior about
/// `prior_kernel`: lengthscales and amplitude from a few, one at a time upwards or downwards from
/// `start`, which has such values.
[[nodiscard]] FeasibilityKernel fit_kernel(const Matrix& features,
                                           const std::vector<bool>& outcomes,
                                           const FeatureGroups& groups,
                                           const FeasibilityKernel& start);

/// What one outcome of probability cdf(latent value) says about the latent value, which is normal
/// before (Rasmussen and Williams 2006, section 3.6): the mean of anything rises by its covariance
/// with the latent value times `slope`, its variance falls by the square of that covariance times
/// `curvature`.
struct ProbitUpdate {
  ProbitUpdate(double mean, double variance, bool outcome);

  double log_probability = 0.0;  ///< of the outcome
  double slope = 0.0;
  double curvature = 0.0;
};

}  // namespace steptune::bayes
