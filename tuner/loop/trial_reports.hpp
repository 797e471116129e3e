// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/measure/progress_trace.hpp"
#include "trial_runner/measure/ratio_in_turns.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/loop/guard_window.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Start, pauses (on the loop's clock) and reports of a running trial. The reports give the
/// measurement, the progress, the guarded values and the hook's events. Not thread safe.
class TrialReports {
 public:
  /// `study` outlives the object. `program_startup_s`: start-up of the shared program, before this
  /// trial.
  TrialReports(const StudySpec& study, const Configuration& configuration,
               const TrialTargets& targets, double started_s, double program_startup_s);

  /// Adds a report. Returns true if the program's counter has started again. Guards then judge only
  /// this report and later ones.
  bool add(const Report& report);

  /// Records that an interleaved trial is paused, which ends its turn, or resumes.
  void paused(const TrialPaused& event);

  [[nodiscard]] double started_s() const { return started_s_; }
  [[nodiscard]] double program_startup_s() const { return program_startup_s_; }
  [[nodiscard]] bool is_paused() const { return paused_since_s_.has_value(); }
  /// Returns the sum of the pauses that are over.
  [[nodiscard]] double paused_s() const { return paused_s_; }
  /// Returns the loop's time as if the trial had never been paused. The trial's reports and limits
  /// use this time; the limit of the budget does not.
  [[nodiscard]] double without_pauses_s(double now_s) const {
    return paused_since_s_.value_or(now_s) - paused_s_;
  }

  [[nodiscard]] const Measurement& measurement() const { return measurer_.current(); }
  /// Returns the intervals that `ratio_in_turns` compares, one for each turn so far.
  [[nodiscard]] const std::vector<Interval>& turns() const { return turns_; }
  /// Returns the measurement of the whole run of a program that ended by itself.
  [[nodiscard]] Measurement whole_run(double ended_s) const { return measurer_.whole_run(ended_s); }
  [[nodiscard]] const ProgressBound& progress() const { return progress_; }
  [[nodiscard]] const GuardWindows& guards() const { return guards_; }
  [[nodiscard]] const HookLog& hook() const { return hook_; }
  /// Returns the progress for the history. `kept_s`: as in `ProgressTracer::trace`.
  [[nodiscard]] ProgressTrace trace(std::span<const double> kept_s) const {
    return tracer_.trace(kept_s);
  }

  /// True if a report had samples or steps.
  [[nodiscard]] bool has_reported_progress() const;
  /// Returns when the latest report came.
  [[nodiscard]] double reported_s() const { return reported_s_; }
  /// Returns the time of the latest report with a counter or a phase; the trial's start before any
  /// such report.
  [[nodiscard]] double progressed_s() const { return progressed_s_; }
  /// True if rank 0 has reported the beginning of a phase, and since then neither its end nor a
  /// step.
  [[nodiscard]] bool in_phase() const { return in_phase_; }

 private:
  const StudySpec* study_;
  double started_s_;
  double program_startup_s_;
  std::optional<double> paused_since_s_;
  double paused_s_ = 0.0;
  Measurer measurer_;
  std::vector<Interval> turns_;  ///< for each turn: totals up to its last report
  ProgressTracer tracer_;
  ProgressBound progress_;
  GuardWindows guards_;
  HookLog hook_;
  double reported_s_ = 0.0;
  double progressed_s_;
  bool in_phase_ = false;
};

}  // namespace steptune
