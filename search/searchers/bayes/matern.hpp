// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace steptune::bayes {

// Matern 5/2 for many squared distances at once, vectorized: roots and exponentials dominate the
// cost of a kernel. Distances may be up to 1e300; arguments are not checked.

/// Number of points whose covariances are computed together. Sums over dimensions then stay in the
/// first-level cache, and the tables of a dimension in the second-level cache.
inline constexpr std::size_t k_points_at_once = 128;

/// Computes the covariance of each squared distance.
void matern52(std::span<const double> squared_distances, std::span<double> covariances);

/// Adds `weight` times the squared differences between `value` and each of `others`.
void add_squared_differences(double value, std::span<const double> others, double weight,
                             std::span<double> squared_distances);

/// Replaces squared distances by covariances and writes their derivatives to `slopes`.
void matern52_with_slopes(std::span<double> squared_distances, std::span<double> slopes);

/// Shares of the kernel over all dimensions and of each dimension's kernel.
struct KernelMixture {
  double joint = 1.0;
  double each = 0.0;
};

/// Computes the covariances of one point with `covariances.size()` others. Adds two terms, each
/// times its share. The first is the Matern of the summed `distances`, which has one pointer for
/// each dimension to its squared distances. The second is the sum of `additive`, the covariances of
/// each dimension alone.
void mixed_covariances(const KernelMixture& mixture, std::span<const double* const> distances,
                       std::span<const double* const> additive, std::span<double> covariances);

/// Computes the covariances of one point with `covariances.size()` others: `amplitude` times the
/// mean of two kernels. One is the product over all dimensions; the other is the mean, over all
/// pairs of dimensions, of the product of two. `by_dimension` has one pointer for each dimension to
/// its covariances. With one dimension, uses that dimension's covariance in place of the mean.
void interaction_covariances(double amplitude, std::span<const double* const> by_dimension,
                             std::span<double> covariances);

}  // namespace steptune::bayes
