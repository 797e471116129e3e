// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace steptune::bayes {

enum class Warp { none, log };

/// Objective values as the Gaussian process sees them: warped, then centred and scaled to mean 0
/// and variance 1.
class OutputTransform {
 public:
  /// Learns centre and scale; `Warp::log` needs positive values. A constant sample is scaled by its
  /// own size.
  OutputTransform(Warp warp, std::span<const double> values);

  [[nodiscard]] double forward(double value) const;
  [[nodiscard]] double backward(double target) const;
  /// Variance of the target of a value with this standard error (to first order).
  [[nodiscard]] double noise_variance(double value, double standard_error) const;
  /// log |d target / d value|: what turns a density of targets into one of values, so that
  /// different transforms of the same values compare.
  [[nodiscard]] double log_jacobian(double value) const;
  /// Expected improvement over `best` (a target) of a normal target with this mean and variance, as
  /// a share of the value that `best` stands for.
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
