// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "search/searchers/bayes/feasibility_kernel.hpp"

namespace steptune::bayes {

/// Gaussian process classifier with a probit likelihood, by assumed-density filtering: one pass of
/// expectation propagation (Rasmussen and Williams 2006, section 3.6) in the order of the outcomes,
/// so that each further one costs the square of their number. Probabilities may be asked for from
/// several threads at once. Copies share most of what they know until one of them learns more.
class FeasibilityClassifier {
 public:
  /// `outcomes`: true for rows of the likelier class.
  FeasibilityClassifier(const Matrix& features, const std::vector<bool>& outcomes,
                        const FeatureGroups& groups, const FeasibilityKernel& kernel);
  FeasibilityClassifier(const FeasibilityClassifier& other);
  FeasibilityClassifier(FeasibilityClassifier&&) noexcept;
  FeasibilityClassifier& operator=(const FeasibilityClassifier&) = delete;
  FeasibilityClassifier& operator=(FeasibilityClassifier&&) noexcept;
  ~FeasibilityClassifier();

  /// Learns one more outcome. What is believed far from all trials stay.
  void append(std::span<const double> features, bool outcome);

  /// Logarithm of the probability that the outcome at rows [first, last) is true.
  [[nodiscard]] std::vector<double> log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;
  /// No smaller than these, and much cheaper: the most probable variance is assumed.
  [[nodiscard]] std::vector<double> log_probability_bounds(const Matrix& features,
                                                           std::size_t first,
                                                           std::size_t last) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptune::bayes
