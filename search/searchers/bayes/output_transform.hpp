// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace steptune::bayes {

enum class Warp { none, log };

/// Converts objective values for the Gaussian process: warps them, then centres and scales them to
/// mean 0 and variance 1.
class OutputTransform {
 public:
  /// Computes centre and scale from `values`. `Warp::log` needs positive values. If all values are
  /// equal, the scale is their absolute value; 1 for logarithms and for zeros.
  OutputTransform(Warp warp, std::span<const double> values);

  [[nodiscard]] double forward(double value) const;
  [[nodiscard]] double backward(double target) const;
  /// Returns the variance of the target of a value with this standard error (to first order).
  [[nodiscard]] double noise_variance(double value, double standard_error) const;
  /// Returns log |d target / d value|. Converts a density of targets into one of values, so that
  /// different transforms of the same values can be compared.
  [[nodiscard]] double log_jacobian(double value) const;
  /// Returns the expected improvement over `best` (a target) of a normal target with this mean and
  /// variance, as a share of the value of `best`.
  [[nodiscard]] double improvement_share(double best, double mean, double variance) const;

  [[nodiscard]] Warp warp() const { return warp_; }
  [[nodiscard]] double centre() const { return centre_; }
  [[nodiscard]] double scale() const { return scale_; }

 private:
  Warp warp_;
  double centre_ = 0.0;
  double scale_ = 1.0;
};

}  // namespace steptune::bayes
