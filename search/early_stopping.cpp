// SPDX-License-Identifier: Apache-2.0
#include "search/early_stopping.hpp"

#include <utility>

#include "common/interval.hpp"

namespace steptune {

EarlyStopping::EarlyStopping(const SchedulerOptions& options)
    : options_(options), next_milestone_(options.min_resource), next_rung_(options.min_resource) {}

bool EarlyStopping::record(const TrialEstimate& estimate) {
  if (!all_finite(estimate.values) || !all_finite(estimate.half_widths)) return false;
  Milestone reached{estimate.resource / options_.max_resource, estimate.values, {}};
  for (const double half_width : estimate.half_widths)
    reached.standard_errors.push_back(half_width / k_z_95);
  // Record rungs first. An estimate at the full resource is no milestone, so the function then
  // returns early. But this estimate may be the first at the last rung.
  if (estimate.resource >= next_rung_ * k_resource_slack &&
      next_rung_ < options_.max_resource * k_resource_slack) {
    while (next_rung_ * k_resource_slack <= estimate.resource)
      next_rung_ *= options_.eta;
    rungs_.push_back(reached);
  }
  if (estimate.resource < next_milestone_ * k_resource_slack ||
      estimate.resource >= options_.max_resource * k_resource_slack) {
    return false;
  }
  while (next_milestone_ * k_resource_slack <= estimate.resource)
    next_milestone_ *= k_milestone_ratio;
  milestones_.push_back(std::move(reached));
  return true;
}

StopDecision EarlyStopping::decide(const TrialEstimate& estimate,
                                   const Configuration& configuration, Scheduler& scheduler,
                                   Searcher& searcher) {
  StopDecision decision = scheduler.on_estimate(estimate);
  const bool new_milestone = record(estimate);
  if (!scheduler.defers_to_searcher()) return decision;
  if (new_milestone) searcher_decision_ = searcher.should_stop(configuration, milestones_);
  return searcher_decision_.value_or(std::move(decision));
}

}  // namespace steptune
