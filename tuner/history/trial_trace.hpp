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

/// A time in which other programs disturbed a trial. Seconds since the trial's start.
struct DisturbedTime {
  double from_s = 0.0;
  double to_s = 0.0;
  Disturbance disturbance;
};

/// Decision about a running trial. The scheduler makes it, or the searcher instead.
struct TrialDecision {
  double at_s = 0.0;   ///< seconds since the trial's start
  double steps = 0.0;  ///< steady-state steps so far
  bool stop = false;
  std::vector<double> values;  ///< values of the objectives, negated if they are maximized
  std::vector<double> half_widths;
  std::string reason;
};

/// Events of the latest attempt of a trial. Stored separately from its record, because a trace is
/// large and read for one trial at a time.
struct TrialTrace {
  ProgressTrace progress;
  std::vector<DisturbedTime> disturbed;  ///< in order; at most 200
  std::vector<TrialDecision> decisions;  ///< in order; at most 200
  /// Start-up time before the trial began: start of a shared program, or imports of the process
  /// from which the trial was forked. The measurement's start-up includes it, the times of the
  /// trace do not.
  double spared_startup_s = 0.0;
  std::vector<MachineSecond> machine;  ///< in order; at most 500

  [[nodiscard]] bool empty() const {
    return progress.points.empty() && progress.phases.empty() && disturbed.empty() &&
           decisions.empty() && machine.empty();
  }
};

/// Returns the trace in its stored form: seconds to the microsecond, or to the millisecond for
/// `machine`. Numbers that are not finite become null or are left out.
[[nodiscard]] Json to_json(const TrialTrace& trace);
/// Reads a trace. Leaves out unreadable parts.
[[nodiscard]] TrialTrace trial_trace_from_json(const Json& json);

}  // namespace steptune
