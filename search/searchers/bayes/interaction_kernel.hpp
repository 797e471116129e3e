// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/searchers/bayes/feature_columns.hpp"
#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// The kernel of outcomes: the mean of the product of a Matern 5/2 per dimension, which knows every
/// interaction, and of the mean product of two of them, which knows those of pairs (the last and
/// the second order of Duvenaud, Nickisch and Rasmussen 2011, "Additive Gaussian processes"). What
/// makes trials fail is mostly that a few parameters are too large together, whatever the others.
struct InteractionKernel {
  std::vector<double> lengthscales;  ///< by dimension
  double amplitude = 1.0;

  /// Covariances of rows [first, last) of `features` with all `others`, row by row, into `result`.
  void between(const Matrix& features, std::size_t first, std::size_t last,
               const FeatureColumns& others, const FeatureGroups& groups, Matrix& result) const;
  bool operator==(const InteractionKernel&) const = default;
};

}  // namespace steptune::bayes
