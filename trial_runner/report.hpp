// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace steptune {

/// Time that a trial spends outside training steps: evaluation, a checkpoint, the end of an epoch.
/// The phase begins or ends at the time when the report is received. A report that begins a phase
/// has counters from before the phase. A report that ends a phase has counters from after it. If no
/// end is reported, the phase lasts until the next report with a higher counter, minus the usual
/// time of that report's steps.
struct PhaseReport {
  std::string name;
  /// The phase has just ended and took this long; nullopt: it begins now.
  std::optional<double> seconds;
  /// True if `seconds` is the difference between two times of receipt. It then contains no pause in
  /// which the runner stopped the trial.
  bool by_receipt = false;
  bool operator==(const PhaseReport&) const = default;
};

/// Speed of a trial, corrected for changes of the machine's speed. The runner compares the trial
/// with the baseline in turns to get it. The trial's own reports do not show it. Samples are in the
/// unit of the report's counters.
struct ComparedRate {
  double seconds_per_sample = 0.0;
  /// Half-width of the 95 % interval, widened because the interval is evaluated repeatedly.
  double half_width_s = 0.0;
  bool operator==(const ComparedRate&) const = default;
};

/// Largest error in seconds of a difference between times that a program prints in whole seconds.
inline constexpr double k_clock_rounding_s = 1.0;

/// One progress line of a trial. Counters are cumulative since the trial's start.
struct Report {
  double received_s = 0.0;  ///< runner's clock when the line was read
  /// Rank of the reporting process if several processes of a trial report. Counters count all ranks
  /// together, as this rank sees them.
  std::optional<int> global_rank;
  /// Seconds on the trial's own monotonic clock; preferred over `received_s` for intervals.
  std::optional<double> clock_s;
  std::optional<double> step;     ///< optimizer steps done
  std::optional<double> samples;  ///< samples processed
  bool samples_assumed = false;   ///< `samples` is `step` times the study's samples per step
  /// Loss, gradient noise scale or any other metric; finite.
  std::map<std::string, double> metrics;
  /// Cumulative seconds for each part of a step: data, compute.
  std::map<std::string, double> parts;
  std::optional<PhaseReport> phase;
  /// The runner's own result so far. If set, it is the measurement, and the times of reports are
  /// ignored.
  std::optional<ComparedRate> compared;
  /// Metrics whose last value was NaN or infinite (a diverged loss). They are absent from
  /// `metrics`.
  std::set<std::string> not_finite;
  /// Names in `metrics` and `not_finite` whose values come from earlier lines.
  std::set<std::string> repeated;
  /// Messages from a hook in the program (trial_runner/hooks), one JSON object each, in order.
  std::vector<std::string> hook_events;
};

}  // namespace steptune
