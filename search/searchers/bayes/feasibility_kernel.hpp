// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Covariance of feasibility's latent function: the mean of two kernels. One is the product of a
/// Matern 5/2 for each dimension, which models every interaction. The other is the mean over all
/// pairs of dimensions, where a pair has the product of its two kernels. These are the kernels of
/// the highest and of the second order in Duvenaud, Nickisch and Rasmussen 2011, "Additive Gaussian
/// processes". The reason: trials mostly fail because a few parameters together are too large, for
/// any values of the other parameters.
struct FeasibilityKernel {
  std::vector<double> lengthscales;  ///< one for each dimension
  double amplitude = 1.0;

  /// Writes the covariances of rows [first, last) of `features` with all `others` into `result`,
  /// row by row.
  void between(const Matrix& features, std::size_t first, std::size_t last,
               const FeatureColumns& others, const FeatureGroups& groups, Matrix& result) const;
  bool operator==(const FeasibilityKernel&) const = default;
};

/// Returns the kernel assumed before the first outcome.
[[nodiscard]] FeasibilityKernel prior_kernel(const FeatureGroups& groups);

/// Returns the latent value at which an outcome's probability equals the share of true outcomes so
/// far, with one true and one false outcome added.
[[nodiscard]] double mean_of(const std::vector<bool>& outcomes);

/// Searches for the kernel under which the outcomes are likeliest, with a prior for lengthscales
/// around those of `prior_kernel`. (The likelihood is the product of each outcome's probability
/// given the earlier outcomes.) Chooses each lengthscale and the amplitude from a few fixed values.
/// Starts from `start`, which must have such values. Moves one value up or down at a time, in at
/// most two rounds.
[[nodiscard]] FeasibilityKernel fit_kernel(const Matrix& features,
                                           const std::vector<bool>& outcomes,
                                           const FeatureGroups& groups,
                                           const FeasibilityKernel& start);

/// Effect of observing one outcome on its latent value, which had a normal distribution before. The
/// outcome is true with the probability cdf(latent value) (Rasmussen and Williams 2006, section
/// 3.6). Let c be the covariance of any quantity with the latent value. The quantity's mean then
/// rises by c times `slope`, and its variance falls by c^2 times `curvature`.
struct ProbitUpdate {
  ProbitUpdate(double mean, double variance, bool outcome);

  double log_probability = 0.0;  ///< log probability of the outcome
  double slope = 0.0;
  double curvature = 0.0;
};

}  // namespace steptune::bayes
