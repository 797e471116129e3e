// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/feasibility_classifier.hpp"

namespace steptune::bayes {

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
