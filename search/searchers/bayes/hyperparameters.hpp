// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptune::bayes {

/// Hyperparameters of a Gaussian process whose targets are standardised; all natural logarithms.
struct Hyperparameters {
  std::vector<double> log_lengthscales;  ///< one per dimension (a group of features)
  double log_amplitude = 0.0;            ///< variance of the function
  double log_noise = -10.0;              ///< variance of the noise beyond what is known per target

  [[nodiscard]] std::size_t size() const { return log_lengthscales.size() + 2; }
  [[nodiscard]] std::vector<double> flat() const;
  [[nodiscard]] static Hyperparameters from_flat(const std::vector<double>& flat);
};

/// A normal distribution over the logarithm of a hyperparameter.
struct LogNormal {
  double location = 0.0;
  double spread = 1.0;
};

/// What is believed of the hyperparameters before any data.
struct Prior {
  LogNormal lengthscale;
  LogNormal amplitude{0.0, 1.0};
  LogNormal noise{-10.0, 3.0};

  /// Lengthscales that grow with the square root of the dimension, so that the expected complexity
  /// of the function does not (Hvarfner, Hellsten and Nardi 2024, arXiv 2402.02229).
  [[nodiscard]] static Prior dimension_scaled(std::size_t dimensions);
  /// Lengthscales around half of the range in every dimension, whatever their number: lets a few
  /// dimensions dominate early.
  [[nodiscard]] static Prior flat();

  /// Where a fit begins: the most probable values, but with noise that is felt, because from next
  /// to none a fit explains noise by short lengthscales instead and stays there.
  [[nodiscard]] Hyperparameters start(std::size_t dimensions) const;
};

}  // namespace steptune::bayes
