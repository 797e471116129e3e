// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"

namespace steptune {

/// Decides whether one running trial is stopped early, and keeps its milestones: the first
/// estimates that reach 1, 2, 4, 8, ... times the least resource.
class EarlyStopping {
 public:
  /// Resources as in `SchedulerOptions`; both positive.
  EarlyStopping(double min_resource, double max_resource);

  /// The scheduler is told every estimate; where it defers to the searcher, that one is asked at
  /// every new milestone and overrules it until the next one. What the tuner and the benchmarks
  /// run.
  [[nodiscard]] StopDecision decide(const TrialEstimate& estimate,
                                    const Configuration& configuration, Scheduler& scheduler,
                                    Searcher& searcher);

  /// Records an estimate of a trial that is exempt from stopping. True if it is a new milestone.
  bool record(const TrialEstimate& estimate);

  /// At rising fidelities below 1.
  [[nodiscard]] std::span<const Milestone> milestones() const { return milestones_; }

 private:
  double next_resource_;
  double max_resource_;
  std::vector<Milestone> milestones_;
  std::optional<StopDecision> searcher_decision_;  ///< at the last milestone
};

}  // namespace steptune
