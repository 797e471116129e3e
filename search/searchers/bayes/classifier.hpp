// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "search/searchers/bayes/kernel.hpp"

namespace steptune::bayes {

/// Gaussian process classifier with a probit likelihood, by Laplace's approximation (Rasmussen and
/// Williams 2006, algorithms 3.1 and 3.2). Immutable; may be used from several threads at once.
class Classifier {
 public:
  /// `outcomes`: true for rows of the likelier class. Lengthscales and additive share are given,
  /// the amplitude is the one of a few under which an even choice of the outcomes is most
  /// probable.
  Classifier(const Matrix& features, const std::vector<bool>& outcomes, const FeatureGroups& groups,
             const Hyperparameters& hyperparameters);
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;
  ~Classifier();

  /// Logarithm of the probability that the outcome at rows [first, last) is true.
  [[nodiscard]] std::vector<double> log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;
  /// No smaller than these, and much cheaper: the most probable variance is assumed.
  [[nodiscard]] std::vector<double> log_probability_bounds(const Matrix& features,
                                                           std::size_t first,
                                                           std::size_t last) const;
  /// Laplace's approximation of the log probability of the outcomes.
  [[nodiscard]] double log_evidence() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptune::bayes
