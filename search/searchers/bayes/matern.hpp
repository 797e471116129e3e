// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace steptune::bayes {

// Matern 5/2 over many squared distances at a time, by the vector units that the machine has: what
// a kernel costs is roots and exponentials. Distances may be up to 1e300; nothing is checked.

/// Covariances of squared distances, into as many places.
void matern52(std::span<const double> squared_distances, std::span<double> covariances);

/// Adds `weight` times the squared differences of `value` from others.
void add_squared_differences(double value, std::span<const double> others, double weight,
                             std::span<double> squared_distances);

/// Overwrites squared distances by covariances and `slopes` by the derivatives.
void matern52_with_slopes(std::span<double> squared_distances, std::span<double> slopes);

/// Shares of the kernel over all dimensions together and of each dimension's own.
struct KernelMixture {
  double joint = 1.0;
  double each = 0.0;
};

/// Covariances of one point with `covariances.size()` others: Matern of the sum of `distances` (one
/// pointer per dimension, each to the squared distances in that dimension) and the sum of
/// `additive` (the covariances by dimension alone), each times its share.
void mixed_covariances(const KernelMixture& mixture, std::span<const double* const> distances,
                       std::span<const double* const> additive, std::span<double> covariances);

/// Covariances of one point with `covariances.size()` others: the mean of the product of all of
/// `by_dimension` (one pointer per dimension, each to the covariances in that dimension) and of the
/// mean product of two of them, times `amplitude`. Of one dimension: that of its own.
void interaction_covariances(double amplitude, std::span<const double* const> by_dimension,
                             std::span<double> covariances);

}  // namespace steptune::bayes
