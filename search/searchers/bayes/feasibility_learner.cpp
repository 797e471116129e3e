// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/feasibility_learner.hpp"

#include <algorithm>
#include <iterator>

#include "search/searchers/bayes/feasibility_kernel.hpp"

namespace steptune::bayes {
namespace {

constexpr std::size_t k_first_feasibility_fit = 6;
// The kernel is fitted to at most so many outcomes.
constexpr std::size_t k_feasibility_fit_limit = 96;

std::size_t next_fit(std::size_t last) {
  return last == 0 ? k_first_feasibility_fit : last + std::max<std::size_t>(3, last / 4);
}

FeatureGroups first_groups(const FeatureGroups& groups, std::size_t count) {
  FeatureGroups result{{}, count};
  std::copy_if(groups.group_of_feature.begin(), groups.group_of_feature.end(),
               std::back_inserter(result.group_of_feature),
               [&](std::size_t group) { return group < count; });
  return result;
}

}  // namespace

FeasibilityLearner::FeasibilityLearner(const FeatureGroups& groups, std::size_t dimensions)
    : groups_(first_groups(groups, dimensions)),
      features_(groups.group_of_feature.size()),
      kernel_(prior_kernel(groups_)) {}

void FeasibilityLearner::add(std::span<const double> features, bool outcome) {
  features_.append_row(features);
  outcomes_.push_back(outcome);
}

void FeasibilityLearner::fit(std::size_t count) {
  const std::size_t chosen = std::min(count, k_feasibility_fit_limit);
  Matrix rows(features_.cols());
  std::vector<bool> outcomes;
  for (std::size_t i = 0; i < chosen; ++i) {
    const std::size_t row = i * count / chosen;
    rows.append_row(features_.row(row));
    outcomes.push_back(outcomes_[row]);
  }
  kernel_ = fit_kernel(rows, outcomes, groups_, kernel_);
  fitted_to_ = count;
}

FeasibilityClassifier FeasibilityLearner::classifier() {
  for (std::size_t next = next_fit(fitted_to_); next <= size(); next = next_fit(next))
    fit(next);
  // Before the first fit there is nothing to go on from.
  const std::size_t base = fitted_to_ > 0 ? fitted_to_ : size();
  if (!conditioned_ || conditioned_->built_from != base) {
    Matrix rows(features_.cols());
    for (std::size_t row = 0; row < base; ++row)
      rows.append_row(features_.row(row));
    const std::vector<bool> outcomes(outcomes_.begin(),
                                     outcomes_.begin() + static_cast<std::ptrdiff_t>(base));
    conditioned_.emplace(
        Conditioned{base, base, FeasibilityClassifier(rows, outcomes, groups_, kernel_)});
  }
  for (; conditioned_->examples < size(); ++conditioned_->examples) {
    conditioned_->classifier.append(features_.row(conditioned_->examples),
                                    outcomes_[conditioned_->examples]);
  }
  return conditioned_->classifier;
}

}  // namespace steptune::bayes
