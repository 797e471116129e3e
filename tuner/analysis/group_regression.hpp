// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptune {

/// A linear regression whose columns belong to groups, each of which takes part or does not.
struct GroupRegressionInput {
  std::vector<double> columns;      ///< a row of all columns per observation, one after the other
  std::vector<double> values;       ///< one per observation
  std::vector<double> weights;      ///< inverse variances up to a common factor
  std::vector<std::size_t> starts;  ///< first column of each group, and the number of columns
  std::vector<double> scales;  ///< prior standard deviation of each coefficient, up to its group's
  std::vector<double> inclusion;  ///< prior chance of each group to take part, in (0, 1)
};

/// Draws from the posterior distribution.
struct GroupRegression {
  double value_mean = 0.0;           ///< weighted
  std::vector<double> column_means;  ///< weighted; coefficients are of columns less these
  std::vector<std::vector<double>> coefficients;
  std::vector<double> residual_variances;  ///< at weight 1
  std::vector<double> explained;  ///< share of the variance of the values that is not residual
};

/// Gibbs sampler for a spike-and-slab prior on groups (Xu and Ghosh 2015): within a sweep each
/// group's participation and scale are drawn with its coefficients integrated out, then these. The
/// columns of a group are rotated first so that they are uncorrelated, which makes a group's turn a
/// sum. A sweep takes O(columns^2) at most, whatever the number of observations. The same input
/// gives the same draws.
[[nodiscard]] GroupRegression regress_on_groups(const GroupRegressionInput& input);

}  // namespace steptune
