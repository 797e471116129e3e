// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/outcome_learner.hpp"

namespace steptune::bayes {

OutcomeLearner::OutcomeLearner(const FeatureGroups& groups, std::size_t dimensions)
    : groups_(groups), regression_(groups, dimensions, false) {}

void OutcomeLearner::add(std::span<const double> features, bool outcome) {
  regression_.add(features, outcome ? 1.0 : 0.0, 0.0);
}

Classifier OutcomeLearner::classifier() {
  const Learner::LastFit fit = regression_.last_fit();
  const auto outcome = [&](std::size_t row) { return regression_.values()[row] > 0.5; };
  // Before the first fit there is nothing to go on from.
  const std::size_t base = fit.examples > 0 ? fit.examples : size();
  if (!conditioned_ || conditioned_->hyperparameters != fit.hyperparameters ||
      conditioned_->built_from != base) {
    Matrix rows(regression_.features().cols());
    std::vector<bool> outcomes;
    for (std::size_t row = 0; row < base; ++row) {
      rows.append_row(regression_.features().row(row));
      outcomes.push_back(outcome(row));
    }
    conditioned_.emplace(Conditioned{fit.hyperparameters, base, base,
                                     Classifier(rows, outcomes, groups_, fit.hyperparameters)});
  }
  for (; conditioned_->examples < size(); ++conditioned_->examples) {
    conditioned_->classifier.append(regression_.features().row(conditioned_->examples),
                                    outcome(conditioned_->examples));
  }
  return conditioned_->classifier;
}

}  // namespace steptune::bayes
