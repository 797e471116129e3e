// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/rng.hpp"
#include "trial_runner/replay/replay_model.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/step_times.hpp"

namespace steptune {

/// End that a simulated trial reaches by itself: a crash, lack of memory or a hang.
struct ReplayEnd {
  OutcomeKind kind = OutcomeKind::completed;
  /// Time from the start of the first step until the trial ends, or until a `hung` trial falls
  /// silent.
  double after_s = 0.0;
  int exit_code = 0;
  std::string detail;
};

/// One running trial. Computes its next event and the event's time. Reports each step at first,
/// then at growing intervals (`Plan::report_growth`). So an hour of 0.1 s steps gives about 250
/// reports, and long studies stay cheap.
class ReplayTrial {
 public:
  struct Plan {
    TrialSpec spec;
    double started_s = 0.0;
    double startup_s = 0.0;
    tl::expected<ReplayBehaviour, std::string> behaviour;
    std::optional<ReplayEnd> end;
    std::optional<double> steps;  ///< number of steps after which the trial completes
    StepNoise noise;
    std::uint64_t seed = 0;
    /// Time to the next report as a share of the time since the first step, but at least one step.
    /// 0: the trial reports each step.
    double report_growth = 1.0 / 32.0;
  };
  explicit ReplayTrial(Plan plan);

  [[nodiscard]] TrialKey key() const { return plan_.spec.key; }
  [[nodiscard]] double grace_s() const { return plan_.spec.limits.grace_s; }
  /// Returns the time of the next event; infinite after the trial's end.
  [[nodiscard]] double next_s() const { return next_s_; }
  /// Returns the next event. There is none after `TrialFinished`.
  [[nodiscard]] TrialEvent next();
  /// Ends the trial at `time_s`, unless it ends earlier.
  void stop(double time_s);

 private:
  struct End {
    double time_s = 0.0;
    Outcome outcome;
  };

  void consider(double time_s, OutcomeKind kind, int exit_code, std::string detail);
  void plan_next_report();
  [[nodiscard]] Report report() const;

  Plan plan_;
  Rng rng_;
  std::optional<StepTimes> step_times_;
  std::optional<End> end_;  ///< earliest known end
  bool start_is_reported_ = false;
  bool has_reported_ = false;
  bool has_ended_ = false;
  double steps_ = 0.0;     ///< steps done at the next report
  double report_s_ = 0.0;  ///< time of the next report
  double first_step_s_ = 0.0;
  double next_s_ = 0.0;
};

}  // namespace steptune
