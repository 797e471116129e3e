// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

/// Learns the probability of one of two outcomes from examples that arrive one by one. The kernel
/// is fitted at growing numbers of examples; the classifier is built anew when that changes it, and
/// learns what follows outcome by outcome. What it believes is a function of the sequence of
/// examples alone.
class FeasibilityLearner {
 public:
  /// Rows have the features of the first `dimensions` of these groups, and others, which say
  /// nothing about outcomes.
  FeasibilityLearner(const FeatureGroups& groups, std::size_t dimensions);

  void add(std::span<const double> features, bool outcome);
  [[nodiscard]] std::size_t size() const { return outcomes_.size(); }

  /// Of the probability that the outcome is true. Needs at least one example.
  [[nodiscard]] FeasibilityClassifier classifier();

 private:
  struct Conditioned {
    std::size_t built_from = 0;  ///< examples
    std::size_t examples = 0;    ///< built from and appended
    FeasibilityClassifier classifier;
  };

  void fit(std::size_t count);

  FeatureGroups groups_;
  Matrix features_;
  std::vector<bool> outcomes_;
  FeasibilityKernel kernel_;
  std::size_t fitted_to_ = 0;  ///< examples
  std::optional<Conditioned> conditioned_;
};

}  // namespace steptune::bayes
