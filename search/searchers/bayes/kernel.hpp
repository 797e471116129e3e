// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "search/searchers/bayes/hyperparameters.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Dimension of each feature. Features of one dimension share a lengthscale.
struct FeatureGroups {
  std::vector<std::size_t> group_of_feature;
  std::size_t count = 0;
};

/// Returns the first and one past the last feature of each dimension. A dimension's features are
/// adjacent.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> ranges_of(
    const FeatureGroups& groups);

/// The kernel: a mixture of two kernels. One is a Matern 5/2 over all dimensions together, which
/// models every interaction. The other is the mean of one Matern 5/2 for each dimension, which
/// models no interaction. These are the kernels of the highest and of the first order in Duvenaud,
/// Nickisch and Rasmussen 2011, "Additive Gaussian processes". Both use the same lengthscales.
struct Kernel {
  explicit Kernel(const Hyperparameters& hyperparameters);

  std::vector<double> weights;  ///< inverse square of the lengthscale, for each dimension
  double additive_share = 0.0;
  double amplitude = 1.0;  ///< factor in `between`; `PairCovariances` ignores it

  /// Writes the covariances of rows [first, last) of `features` with the first `count` of `others`
  /// into `result`, row by row. Reuses the memory of `result`, because new pages would cost more
  /// than the computation.
  void between(const Matrix& features, std::size_t first, std::size_t last,
               const FeatureColumns& others, std::size_t count, const FeatureGroups& groups,
               Matrix& result) const;
};

/// Unscaled squared distances between all pairs of rows, for each dimension. They do not change
/// while hyperparameters are fitted. Pair (i, k), k < i, has the index i (i - 1) / 2 + k.
class PairDistances {
 public:
  PairDistances(const Matrix& features, const FeatureGroups& groups);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t pairs() const { return rows_ * (rows_ - 1) / 2; }
  [[nodiscard]] std::size_t dimensions() const { return by_dimension_.size(); }
  /// Empty if all rows agree in this dimension.
  [[nodiscard]] const std::vector<double>& dimension(std::size_t dimension) const {
    return by_dimension_[dimension];
  }

 private:
  std::size_t rows_;
  std::vector<std::vector<double>> by_dimension_;
};

/// Covariances of all pairs at amplitude 1, with the values that their derivatives need.
class PairCovariances {
 public:
  /// `pairs` must outlive this object.
  explicit PairCovariances(const PairDistances& pairs);

  /// Computes the covariances for a kernel. Reuses the memory of the previous kernel.
  void compute(const Kernel& kernel);

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Returns sums over pairs of `sensitivities` times the covariance's derivative. There is one sum
  /// for the logarithm of each lengthscale, and a last one for the log odds of the additive share.
  [[nodiscard]] std::vector<double> gradient(std::span<const double> sensitivities) const;

 private:
  const PairDistances& pairs_;
  double additive_share_ = 0.0;
  std::vector<double> weights_;  ///< of the kernel, for each dimension
  std::vector<double> values_;
  std::vector<double> joint_values_;
  std::vector<double> joint_slopes_;
  std::vector<double> additive_values_;               ///< mean over the dimensions
  std::vector<std::vector<double>> additive_slopes_;  ///< for each dimension
};

}  // namespace steptune::bayes
