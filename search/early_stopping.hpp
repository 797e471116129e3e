// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"

namespace steptune {

/// Decides whether one running trial is stopped early, and keeps of its estimates what searcher and
/// scheduler compare others with: the first ones that reach 1, 2, 4, 8, ... times the least
/// resource (its milestones), and those that first reach a rung of `asha`.
class EarlyStopping {
 public:
  explicit EarlyStopping(const SchedulerOptions& options);

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
  [[nodiscard]] std::span<const Milestone> rungs() const { return rungs_; }

 private:
  SchedulerOptions options_;
  double next_milestone_;
  double next_rung_;
  std::vector<Milestone> milestones_;
  std::vector<Milestone> rungs_;
  std::optional<StopDecision> searcher_decision_;  ///< at the last milestone
};

}  // namespace steptune
