// SPDX-License-Identifier: Apache-2.0
#include "search/early_stopping.hpp"

#include <algorithm>
#include <cmath>

#include "common/interval.hpp"

namespace steptune {
namespace {

constexpr double k_milestone_ratio = 2.0;
// Resources that should be equal may differ in their last digits.
constexpr double k_slack = 1.0 - 1e-9;

}  // namespace

EarlyStopping::EarlyStopping(double min_resource, double max_resource)
    : next_resource_(min_resource), max_resource_(max_resource) {}

bool EarlyStopping::record(const TrialEstimate& estimate) {
  const auto known = [](const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [](double number) { return std::isfinite(number); });
  };
  if (!known(estimate.values) || !known(estimate.half_widths) ||
      estimate.resource < next_resource_ * k_slack ||
      estimate.resource >= max_resource_ * k_slack) {
    return false;
  }
  while (next_resource_ * k_slack <= estimate.resource)
    next_resource_ *= k_milestone_ratio;
  Milestone milestone{estimate.resource / max_resource_, estimate.values, {}};
  for (const double half_width : estimate.half_widths)
    milestone.standard_errors.push_back(half_width / k_z_95);
  milestones_.push_back(std::move(milestone));
  return true;
}

StopDecision EarlyStopping::decide(const TrialEstimate& estimate,
                                   const Configuration& configuration, Scheduler& scheduler,
                                   Searcher& searcher) {
  StopDecision decision = scheduler.on_estimate(estimate);
  const bool new_milestone = record(estimate);
  if (!scheduler.defers_to_searcher()) return decision;
  if (new_milestone) searcher_decision_ = searcher.should_stop({configuration, milestones_});
  return searcher_decision_.value_or(std::move(decision));
}

}  // namespace steptune
