// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/feasibility_classifier.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// The kernel is fitted to at most this many outcomes.
constexpr std::size_t k_feasibility_fit_limit = 96;

/// Returns the number of outcomes at which the kernel is fitted next; `last` is the number at the
/// last fit, 0 before the first.
std::size_t next_fit(std::size_t last) {
  return last == 0 ? 6 : last + std::max<std::size_t>(3, last / 4);
}

FeatureGroups first_groups(const FeatureGroups& groups, std::size_t count) {
  FeatureGroups result{{}, count};
  std::copy_if(groups.group_of_feature.begin(), groups.group_of_feature.end(),
               std::back_inserter(result.group_of_feature),
               [&](std::size_t group) { return group < count; });
  return result;
}

}  // namespace

std::vector<double> FeasibilityClassifier::latent_means(const Matrix& rows, std::size_t first,
                                                        std::size_t last,
                                                        Matrix& covariances) const {
  std::vector<double> result(last - first);
  if (first == last) return result;
  kernel_.between(rows, first, last, features_, groups_, covariances);
  LinearAlgebra::instance().apply(block_of(std::as_const(covariances)), slopes_, result);
  for (double& value : result)
    value += mean_;
  return result;
}

void FeasibilityClassifier::learn(const Matrix& rows, std::size_t row, bool outcome) {
  thread_local Matrix covariances;
  kernel_.between(rows, row, row + 1, features_, groups_, covariances);
  const std::vector<double> projected = factor_.projected(covariances.row(0));
  const double rise =
      std::inner_product(projected.begin(), projected.end(), whitened_.begin(), 0.0);
  const double explained =
      std::inner_product(projected.begin(), projected.end(), projected.begin(), 0.0);
  const double variance = kernel_.amplitude - explained;
  const ProbitUpdate update(mean_ + rise, variance, outcome);
  features_.append(rows.row(row));
  measurements_.push_back(rise + update.slope / update.curvature);
  const double pivot =
      factor_.append_projected(projected, kernel_.amplitude - variance + 1.0 / update.curvature);
  whitened_.push_back((measurements_.back() - rise) / pivot);
}

FeasibilityClassifier::FeasibilityClassifier(const Matrix& features,
                                             const std::vector<bool>& outcomes,
                                             const FeatureGroups& groups,
                                             const FeasibilityKernel& kernel)
    : groups_(groups),
      kernel_(kernel),
      mean_(mean_of(outcomes)),
      features_(Matrix(groups.group_of_feature.size())) {
  for (std::size_t row = 0; row < outcomes.size(); ++row)
    learn(features, row, outcomes[row]);
  slopes_ = factor_.solve(measurements_);
}

void FeasibilityClassifier::append(std::span<const double> features, bool outcome) {
  Matrix row(features.size());
  row.append_row(features);
  learn(row, 0, outcome);
  slopes_ = factor_.solve(measurements_);
}

std::vector<double> FeasibilityClassifier::log_probabilities(const Matrix& features,
                                                             std::size_t first,
                                                             std::size_t last) const {
  thread_local Matrix rows;
  std::vector<double> result = latent_means(features, first, last, rows);
  if (result.empty()) return result;
  const std::vector<double> known = factor_.explained(rows, factor_.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double variance = std::max(kernel_.amplitude - known[i], 0.0);
    result[i] = log_normal_cdf(result[i] / std::sqrt(1.0 + variance));
  }
  return result;
}

std::vector<double> FeasibilityClassifier::log_probability_bounds(const Matrix& features,
                                                                  std::size_t first,
                                                                  std::size_t last) const {
  thread_local Matrix rows;
  std::vector<double> result = latent_means(features, first, last, rows);
  for (double& value : result) {
    // A larger variance moves the probability towards one half. So the largest variance gives the
    // upper bound of a probability below one half. The smallest variance gives that of a
    // probability above one half.
    const double variance = value < 0.0 ? kernel_.amplitude : 0.0;
    value = log_normal_cdf(value / std::sqrt(1.0 + variance));
  }
  return result;
}

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
  // Before the first fit, build from all examples.
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
