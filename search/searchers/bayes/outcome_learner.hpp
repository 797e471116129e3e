// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "search/searchers/bayes/classifier.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Learns the probability of one of two outcomes from examples that arrive one by one. Lengthscales
/// come from a regression on the outcomes; the classifier is built anew when these are fitted, and
/// learns what follows outcome by outcome. What it believes is a function of the sequence of
/// examples alone.
class OutcomeLearner {
 public:
  /// See `Learner`.
  OutcomeLearner(const FeatureGroups& groups, std::size_t dimensions);

  void add(std::span<const double> features, bool outcome);
  [[nodiscard]] std::size_t size() const { return regression_.size(); }

  /// Of the probability that the outcome is true. Needs at least one example.
  [[nodiscard]] Classifier classifier();

 private:
  struct Conditioned {
    Hyperparameters hyperparameters;
    std::size_t built_from = 0;  ///< examples
    std::size_t examples = 0;    ///< built from and appended
    Classifier classifier;
  };

  FeatureGroups groups_;
  Learner regression_;
  std::optional<Conditioned> conditioned_;
};

}  // namespace steptune::bayes
