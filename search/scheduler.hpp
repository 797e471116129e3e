// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "search/observation.hpp"

namespace steptune {

/// Current measurement of a running trial; all objectives are to be minimised.
struct TrialEstimate {
  std::int64_t trial = 0;
  double resource = 0.0;  ///< steady-state steps measured so far
  std::vector<double> values;
  std::vector<double> half_widths;  ///< half-widths of the 95 % intervals; infinite if unknown
};

/// Factor on resources (steps) in comparisons, which allows for rounding in their last digits.
inline constexpr double k_resource_slack = 1.0 - 1e-9;

struct SchedulerOptions {
  double eta = 3.0;           ///< asha: the share 1/eta continues after each rung; above 1
  double min_resource = 10;   ///< steady-state steps of the first rung and the first milestone
  double max_resource = 810;  ///< steps of a full trial; all rungs and milestones are below this
};

/// Decides whether running trials continue. Not thread-safe. Deterministic: decisions depend only
/// on the sequence of calls.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Call this at each change of a trial's estimate. For trials that are exempt from stopping, call
  /// `on_exempt`: their estimates serve only for comparison.
  [[nodiscard]] virtual StopDecision on_estimate(const TrialEstimate& estimate) = 0;
  virtual void on_exempt(const TrialEstimate& estimate) = 0;
  /// Removes all estimates of a trial, so that no trial is compared with it. Call it if the trial
  /// failed, ran out of memory, violated a guard or will be started again. Ignores unknown trials.
  virtual void forget(std::int64_t trial) = 0;

  /// True if a searcher with a model may overrule these decisions (`EarlyStopping`).
  [[nodiscard]] virtual bool defers_to_searcher() const { return false; }
};

/// Makes a scheduler by name: `asha`, `racing`, `median` (see `schedulers.hpp`), or `none`, which
/// never stops a trial.
[[nodiscard]] Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name,
                                                                const SchedulerOptions& options);
[[nodiscard]] const std::vector<std::string>& scheduler_names();

}  // namespace steptune
