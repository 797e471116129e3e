// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptune {

/// Input of a linear regression. Each column belongs to a group, such as the terms of one
/// parameter. The regression includes or excludes a group as a whole.
struct GroupRegressionInput {
  std::vector<double> columns;  ///< by observation, then by column
  std::vector<double> values;   ///< one for each observation
  std::vector<double> weights;  ///< inverse variances up to a common factor
  /// First column of each group, and finally the number of columns.
  std::vector<std::size_t> starts;
  /// Prior standard deviation of each coefficient, relative to the scale of its group.
  std::vector<double> scales;
  std::vector<double> inclusion;  ///< prior probability of each group to be included, in (0, 1)
};

/// Draws from the posterior distribution.
struct GroupRegression {
  double value_mean = 0.0;  ///< weighted mean of the values
  /// Weighted means of the columns. Coefficients belong to columns minus these means.
  std::vector<double> column_means;
  std::vector<std::vector<double>> coefficients;
  std::vector<double> residual_variances;  ///< residual variances of observations of weight 1
  std::vector<double> explained;           ///< explained shares of the values' variance
};

/// Gibbs sampler for a spike-and-slab prior on groups (Xu and Ghosh 2015). A sweep draws each
/// group's inclusion and scale with its coefficients integrated out, then the coefficients. The
/// columns of a group are first rotated to be uncorrelated, so that drawing a group needs only
/// sums. A sweep takes at most O(columns^2), for any number of observations. The same input gives
/// the same draws.
[[nodiscard]] GroupRegression regress_on_groups(const GroupRegressionInput& input);

}  // namespace steptune
