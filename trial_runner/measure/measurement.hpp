// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/numbers.hpp"
#include "trial_runner/machine_second.hpp"

namespace steptune {

enum class MeasurementStatus {
  no_reports,  ///< no report from which a rate can be computed
  warming_up,  ///< too few reports so far to find a steady state
  /// There are enough reports, but the rate drifts, or the warm-up takes half of them. A valid
  /// result, but not for a ranking.
  not_steady,
  steady,  ///< mean and confidence interval are valid
};
/// Names are persistent; do not change them.
[[nodiscard]] std::string to_text(MeasurementStatus status);
[[nodiscard]] std::optional<MeasurementStatus> measurement_status_from_text(std::string_view text);

/// Recurring interruption of the steps: evaluation, checkpoint, epoch end, garbage collection.
struct PhaseEstimate {
  double count = 0.0;  ///< number of completed interruptions in the trial
  /// Mean duration in seconds, minus the time that the same steps take without interruption.
  double seconds = 0.0;
  double seconds_error = k_infinity;  ///< standard error
  /// Samples between the starts of two interruptions. NaN unless interruptions are periodic, or
  /// random but numerous enough to know the mean.
  double period_samples = k_nan;
  double period_error = k_infinity;  ///< standard error
  /// Samples per interruption, as used in the trial's rate: the period; without a period, the
  /// trial's samples divided by `count`. NaN if unknown: the only interruption came at the start.
  double spacing_samples = k_nan;
};

/// Name of stalls that the program does not report as phases.
inline constexpr std::string_view k_stall_phase = "stall";

/// A lasting change of the rate within the trial: throttling, a drained queue, a full page cache.
struct LevelChange {
  double at_samples = 0.0;  ///< samples processed before the change
  double at_s = 0.0;        ///< since the trial's start
  /// Seconds per sample after the change, divided by those before it.
  double ratio = 1.0;
  std::optional<MachineFigureChange> machine{};  ///< machine figure that may explain the change
};

/// Result of a trial's reports. It estimates the wall-clock time per sample of a long run: steps
/// and their periodic interruptions, after buffers that were full at the start have drained.
struct Measurement {
  MeasurementStatus status = MeasurementStatus::no_reports;
  /// Wall-clock seconds per sample of the long run: the steps' mean over the window (not their
  /// median), plus phases as often as they were seen. While `warming_up` or `not_steady`: the mean
  /// so far, for display. NaN if there is none.
  double seconds_per_sample = k_nan;
  /// Half-width of the 95 % confidence interval, in seconds per sample; infinite while unknown.
  double half_width_s = k_infinity;
  /// Rate of the steps alone over the same window, without phases and isolated stalls.
  double step_seconds_per_sample = k_nan;
  double step_half_width_s = k_infinity;  ///< of its 95 % interval
  /// Standard error of the steps' mean, from the steps' own scatter. `step_half_width_s` is wider:
  /// it also includes repeated evaluations, a fading start, and the scatter in other trials. Not
  /// finite: unknown.
  double step_standard_error_s = k_nan;
  /// Relative standard error of the ratio of this trial's step time to the baseline's. A run of the
  /// baseline took turns with the trial. The error is smaller than those of both step times,
  /// because a neighbour's load slows both runs. NaN: no run of the baseline took turns with it.
  double ratio_error = k_nan;
  /// Upper bound of the long run's seconds per sample. A buffer that was filled before the window
  /// may hide a slower stage. The bound is at least the upper end of the confidence interval, and
  /// infinite while unknown. If a program has consumed N samples t seconds after its start, no
  /// buffered stage is slower than t / N. If buffers hold at most B samples, a window of n samples
  /// in w seconds has no stage slower than w / (n - B).
  double slowest_seconds_per_sample = k_infinity;
  /// Seconds from the process's start to the end of the first step, minus one steady step.
  double startup_s = 0.0;
  double warmup_s = 0.0;  ///< seconds from the end of the start-up to the start of the window
  /// Seconds of the warm-up minus those that its steps take in steady state (a compilation after
  /// the first step). Negative if the warm-up was faster (full buffers). Like `startup_s`, a long
  /// run pays this time once.
  double warmup_excess_s = 0.0;
  double window_s = 0.0;
  double window_steps = 0.0;
  double window_samples = 0.0;
  /// Samples as the program counts them; with `whole_run`, without samples of an earlier run.
  double total_samples = 0.0;
  /// True if the program reported samples. Otherwise samples are computed: steps times the study's
  /// samples per step, or just steps. nullopt: unknown.
  std::optional<bool> samples_reported;
  /// True if the number of samples in a step is known; otherwise a report counts as a step. nullopt
  /// without reports.
  std::optional<bool> steps_known;
  /// True if the program ended by itself and this covers its whole run. Differences between
  /// launches then include the variation within a launch. If there is no steady state, the
  /// confidence interval is wide, because a short run says little about a longer one.
  bool whole_run = false;
  /// Seconds without a step at the end of the trial. Set if most of the trial's time was silent and
  /// no phase was under way: the program may hang. Otherwise 0.
  double silent_s = 0.0;
  /// True if the last steps of the window may be the start of a level change, such as throttling.
  /// They differ from the earlier steps by more than chance usually explains, but too little to be
  /// sure. A trial that could otherwise end continues until the next evaluation. Only for running
  /// trials; not stored in the history.
  bool may_have_just_changed = false;
  /// By name; `k_stall_phase`: not reported by the program.
  std::map<std::string, PhaseEstimate> phases;
  std::vector<LevelChange> level_changes;  ///< in order
  /// Why there is no steady state, or which reports were refused or repaired; for people.
  std::string remark;
  std::map<std::string, double> metrics;  ///< last value of each reported metric
  /// Standard errors, by name, of metrics that are judged by guards as means over several reports.
  std::map<std::string, double> metric_errors;
  std::map<std::string, double> parts;  ///< seconds per sample of each part, over the window
  /// Metrics whose last value was NaN or infinite. A guard on such a metric is violated.
  std::set<std::string> not_finite;

  /// Bounds of the window in seconds since the process began.
  [[nodiscard]] double window_begin_s() const { return startup_s + warmup_s; }
  [[nodiscard]] double window_end_s() const { return window_begin_s() + window_s; }
  /// Returns the time that a long run pays once: the start-up, and the warm-up's time beyond steady
  /// steps.
  [[nodiscard]] double once_s() const { return std::max(0.0, startup_s + warmup_excess_s); }
  /// Returns the half-width relative to the mean; infinite while unknown.
  [[nodiscard]] double relative_half_width() const {
    return status == MeasurementStatus::steady ? half_width_s / seconds_per_sample : k_infinity;
  }
};

}  // namespace steptune
