// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "search/stop_decision.hpp"

namespace steptune {

/// The state of a running trial's measurement, all objectives to be minimised.
struct TrialEstimate {
  std::int64_t trial = 0;
  double resource = 0.0;  ///< steady-state steps measured so far
  std::vector<double> values;
  std::vector<double> half_widths;  ///< of the 95 % interval; infinite while unknown
};

/// Resources that should be equal may differ in their last digits.
inline constexpr double k_resource_slack = 1.0 - 1e-9;

/// What `SchedulerOptions::eta` may be, in study files, too.
inline constexpr double k_least_eta = 1.1;
inline constexpr double k_most_eta = 100.0;

struct SchedulerOptions {
  double eta = 3.0;           ///< asha: a share of 1/eta goes on from each rung
  double min_resource = 10;   ///< asha: steady-state steps of the first rung
  double max_resource = 810;  ///< asha: beyond this no rung
};

/// Decides whether running trials go on. Not thread safe. Deterministic: a function of the calls.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Called whenever a trial's estimate has changed; never for trials exempt from stopping, whose
  /// estimates come through `on_exempt` and serve as comparison only.
  [[nodiscard]] virtual StopDecision on_estimate(const TrialEstimate& estimate) = 0;
  virtual void on_exempt(const TrialEstimate& estimate) = 0;
  /// Takes back all that was told of a trial: nothing is compared with one that failed, ran out of
  /// memory, violates a guard or is about to be started again. Unknown trials are ignored.
  virtual void forget(std::int64_t trial) = 0;

  /// Whether a searcher that has a model may overrule these decisions (`EarlyStopping`).
  [[nodiscard]] virtual bool defers_to_searcher() const { return false; }
};

/// The schedulers by name: `none`, `asha` (Li et al. 2020, stopping variant, with intervals: a
/// trial stops only if its lower bound lies above the rung's cut), `racing` (stops a trial whose
/// interval lies wholly above the incumbent's), `median` (Golovin et al. 2017: worse than the
/// median of others at the same resource).
[[nodiscard]] Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name,
                                                                const SchedulerOptions& options);
[[nodiscard]] const std::vector<std::string>& scheduler_names();

}  // namespace steptune
