// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"

namespace steptune {

/// Decides if one running trial is stopped early. Keeps the trial's estimates that are compared
/// with those of other trials:
/// - milestones: the first estimates that reach 1, 2, 4, 8, ... times `min_resource`, below
///   `max_resource`;
/// - rungs: the first estimate at each rung of `asha`.
class EarlyStopping {
 public:
  explicit EarlyStopping(const SchedulerOptions& options);

  /// Records an estimate and passes it to the scheduler, which decides. If the scheduler defers to
  /// the searcher, also calls `Searcher::should_stop` at each new milestone. If the searcher makes
  /// a decision, it replaces the scheduler's decisions until the next milestone.
  [[nodiscard]] StopDecision decide(const TrialEstimate& estimate,
                                    const Configuration& configuration, Scheduler& scheduler,
                                    Searcher& searcher);

  /// Records an estimate that reaches a milestone or a rung, without a decision. Returns true for a
  /// new milestone. Call it for trials that are exempt from stopping; `decide` also records.
  /// Ignores estimates with an unknown value or interval.
  bool record(const TrialEstimate& estimate);

  /// Milestones in order of fidelity; all fidelities are below 1.
  [[nodiscard]] std::span<const Milestone> milestones() const { return milestones_; }
  [[nodiscard]] std::span<const Milestone> rungs() const { return rungs_; }

 private:
  SchedulerOptions options_;
  double next_milestone_;
  double next_rung_;
  std::vector<Milestone> milestones_;
  std::vector<Milestone> rungs_;
  std::optional<StopDecision> searcher_decision_;  ///< decision at the last milestone
};

}  // namespace steptune
