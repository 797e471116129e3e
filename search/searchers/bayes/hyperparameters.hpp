// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace steptune::bayes {

/// Hyperparameters of a Gaussian process with standardised targets, as natural logarithms.
struct Hyperparameters {
  std::vector<double> log_lengthscales;  ///< one for each dimension (a group of features)
  double log_amplitude = 0.0;            ///< variance of the function
  double log_noise = -10.0;              ///< variance that the features do not explain
  double additive_odds = 0.0;            ///< log odds of the additive share of the kernel

  [[nodiscard]] std::size_t size() const { return log_lengthscales.size() + 3; }
  [[nodiscard]] std::vector<double> flat() const;
  [[nodiscard]] static Hyperparameters from_flat(std::span<const double> flat);
  bool operator==(const Hyperparameters&) const = default;
};

/// A normal distribution over the logarithm of a hyperparameter.
struct LogNormal {
  double location = 0.0;
  double spread = 1.0;

  /// Returns minus the log density at the logarithm `value`, up to a constant. Adds the derivative
  /// to `gradient`.
  [[nodiscard]] double penalty(double value, double& gradient) const;
};

/// Prior distribution of the hyperparameters.
struct Prior {
  LogNormal lengthscale;
  LogNormal amplitude{0.0, 1.0};
  LogNormal noise{-10.0, 3.0};
  LogNormal additive_odds{1.0, 2.0};  ///< normal over the log odds themselves

  /// Lengthscales grow with the square root of the number of dimensions. The expected complexity of
  /// the function then does not grow (Hvarfner, Hellsten and Nardi 2024, arXiv 2402.02229).
  [[nodiscard]] static Prior dimension_scaled(std::size_t dimensions);
  /// Like `dimension_scaled`, but centred on the median of that prior's density instead of its
  /// mode. This prior therefore expects smoother functions, which need fewer trials to learn.
  [[nodiscard]] static Prior smooth(std::size_t dimensions);
  /// Lengthscales are about as long as the whole range in every dimension, for any number of
  /// dimensions. A few dimensions can then dominate after few trials.
  [[nodiscard]] static Prior flat();

  /// Returns the start of a fit: the most probable values, but with noticeable noise. If the start
  /// had no noise, the fit would explain noise by short lengthscales and not correct that.
  [[nodiscard]] Hyperparameters start(std::size_t dimensions) const;
  /// Returns the start of a second fit: short lengthscales and almost no noise. From long
  /// lengthscales, a fit would explain a rugged function as noise and not correct that.
  [[nodiscard]] Hyperparameters rugged_start(std::size_t dimensions) const;
};

}  // namespace steptune::bayes
