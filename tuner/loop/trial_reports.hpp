// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/measure/progress_trace.hpp"
#include "trial_runner/measure/rank_measurers.hpp"
#include "trial_runner/measure/ratio_in_turns.hpp"
#include "trial_runner/report.hpp"
#include "tuner/loop/guard_window.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Facts from the reports of a running trial since its start: measurement, progress, guarded values
/// and hook events. Not thread safe.
class TrialReports {
 public:
  /// `study` outlives the object. `program_startup_s`: as in `TrialTime`.
  TrialReports(const StudySpec& study, const Configuration& configuration,
               const TrialTargets& targets, double started_s, double program_startup_s);

  /// Adds a report. Returns true if the program's counter has started again. Guards then judge only
  /// later reports.
  bool add(const Report& report);

  /// Ends a turn of an interleaved trial.
  void end_turn();

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
  RankMeasurers measurer_;
  std::vector<Interval> turns_;  ///< from the start of the runner's clock to each turn's end
  ProgressTracer tracer_;
  ProgressBound progress_;
  GuardWindows guards_;
  HookLog hook_;
  double reported_s_ = 0.0;
  double progressed_s_;
  bool in_phase_ = false;
};

}  // namespace steptune
