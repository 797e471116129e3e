// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/measure/progress_trace.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// A time in which others disturbed a trial. Seconds since the trial's start.
struct DisturbedTime {
  double from_s = 0.0;
  double to_s = 0.0;
  Disturbance disturbance;
};

/// What the scheduler, or the searcher in its place, decided about a running trial.
struct TrialDecision {
  double at_s = 0.0;   ///< since the trial's start
  double steps = 0.0;  ///< steady-state steps by then
  bool stop = false;
  std::vector<double> values;  ///< of the objectives, as they are minimised
  std::vector<double> half_widths;
  std::string reason;
};

/// What happened while the latest attempt of a trial ran: kept beside its record, because it is
/// large and read for one trial at a time.
struct TrialTrace {
  ProgressTrace progress;
  std::vector<DisturbedTime> disturbed;  ///< in order; at most 200
  std::vector<TrialDecision> decisions;  ///< in order; at most 200
  /// Of the measurement's start-up, what passed before the trial's start: the start of the program
  /// that it shares, or the imports of the one that it was forked from. No time of the trace
  /// counts it.
  double spared_startup_s = 0.0;
  std::vector<MachineSecond> machine;  ///< in order; at most 500

  [[nodiscard]] bool empty() const {
    return progress.points.empty() && progress.phases.empty() && disturbed.empty() &&
           decisions.empty();
  }
};

/// The trace as it is stored: seconds to the microsecond, numbers that are not finite left out.
[[nodiscard]] Json to_json(const TrialTrace& trace);
/// What cannot be read is left out.
[[nodiscard]] TrialTrace trial_trace_from_json(const Json& json);

}  // namespace steptune
