// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptune::bayes {

/// Hyperparameters of a Gaussian process whose targets are standardised; all natural logarithms.
struct Hyperparameters {
  std::vector<double> log_lengthscales;  ///< one per dimension (a group of features)
  double log_amplitude = 0.0;            ///< variance of the function
  double log_noise = -10.0;              ///< variance of what the features do not explain
  double additive_odds = 0.0;            ///< log odds of the additive share of the kernel

  [[nodiscard]] std::size_t size() const { return log_lengthscales.size() + 3; }
  [[nodiscard]] std::vector<double> flat() const;
  [[nodiscard]] static Hyperparameters from_flat(const std::vector<double>& flat);
  bool operator==(const Hyperparameters&) const = default;
};

/// A normal distribution over the logarithm of a hyperparameter.
struct LogNormal {
  double location = 0.0;
  double spread = 1.0;

  /// Minus its log density at the logarithm `value`, less a constant; the derivative is added to
  /// `gradient`.
  [[nodiscard]] double penalty(double value, double& gradient) const;
};

/// What is believed of the hyperparameters before any data.
struct Prior {
  LogNormal lengthscale;
  LogNormal amplitude{0.0, 1.0};
  LogNormal noise{-10.0, 3.0};
  LogNormal additive_odds{1.0, 2.0};  ///< normal over the log odds themselves

  /// Lengthscales that grow with the square root of the dimension, so that the expected complexity
  /// of the function does not (Hvarfner, Hellsten and Nardi 2024, arXiv 2402.02229).
  [[nodiscard]] static Prior dimension_scaled(std::size_t dimensions);
  /// The same about the median of that density instead of its mode: smoother functions, which need
  /// fewer trials where it holds.
  [[nodiscard]] static Prior smooth(std::size_t dimensions);
  /// Lengthscales around the whole range in every dimension, whatever their number: lets a few
  /// dimensions dominate early.
  [[nodiscard]] static Prior flat();

  /// Where a fit begins: the most probable values, but with noise that is felt, because from next
  /// to none a fit explains noise by short lengthscales instead and stays there.
  [[nodiscard]] Hyperparameters start(std::size_t dimensions) const;
  /// Where a second fit begins: short lengthscales and next to no noise, because from long ones a
  /// fit explains a rugged function by noise and stays there.
  [[nodiscard]] Hyperparameters rugged_start(std::size_t dimensions) const;
};

}  // namespace steptune::bayes
