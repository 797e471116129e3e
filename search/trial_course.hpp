// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"

namespace steptune {

/// What one trial has measured on its way, at the first estimates that reach 1, 2, 4, 8, ... times
/// the least resource, and what was decided about it there.
class TrialCourse {
 public:
  /// Resources as in `SchedulerOptions`; both positive.
  TrialCourse(double min_resource, double max_resource);

  /// Whether a trial that is open to being stopped is to go on. The scheduler is told in any case;
  /// where it takes advice, the searcher is asked at every new milestone and overrules it until the
  /// next one. What the tuner and the benchmarks run.
  [[nodiscard]] Decision judge(const TrialEstimate& estimate, const Configuration& configuration,
                               Scheduler& scheduler, Searcher& searcher);

  /// Notes an estimate without judging it. True if it is a new milestone.
  bool note(const TrialEstimate& estimate);

  /// At rising fidelities below 1.
  [[nodiscard]] std::span<const Milestone> milestones() const { return milestones_; }

 private:
  double next_resource_;
  double max_resource_;
  std::vector<Milestone> milestones_;
  std::optional<Advice> advice_;  ///< at the last milestone
};

}  // namespace steptune
