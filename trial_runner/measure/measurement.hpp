// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/machine_second.hpp"

namespace steptune {

enum class MeasurementStatus {
  no_reports,  ///< the trial told nothing that a rate could be computed from
  warming_up,  ///< too few reports after the warm-up for an interval
  not_steady,  ///< enough reports, but the rate keeps drifting: a result, not a number to rank
  steady,      ///< mean and interval are valid
};
/// Persistent names, do not change.
[[nodiscard]] std::string to_text(MeasurementStatus status);
[[nodiscard]] std::optional<MeasurementStatus> measurement_status_from_text(std::string_view text);

/// What interrupts the steps again and again: evaluation, checkpoint, epoch end, garbage
/// collection.
struct PhaseEstimate {
  double count = 0.0;  ///< how many ended in the trial
  /// Mean duration, beyond what the steps would have taken in that time.
  double seconds = 0.0;
  double seconds_error = std::numeric_limits<double>::infinity();  ///< standard error
  /// Samples from one to the next; NaN unless they come periodically, or often enough at random to
  /// know the mean.
  double period_samples = std::numeric_limits<double>::quiet_NaN();
  double period_error = std::numeric_limits<double>::infinity();  ///< standard error
  /// Samples for each of them that the trial's own rate counts: the period, or what was watched
  /// over their number; NaN while unknown.
  double spacing_samples = std::numeric_limits<double>::quiet_NaN();
};

/// The name of a stall that the program does not report as a phase.
inline constexpr std::string_view k_stall_phase = "stall";

/// The rate changed for good inside the trial: throttling, a drained queue, a full page cache.
struct LevelChange {
  double at_samples = 0.0;                       ///< samples of the trial by then
  double at_s = 0.0;                             ///< since the trial's start
  double ratio = 1.0;                            ///< seconds per sample after it to those before it
  std::optional<MachineFigureChange> machine{};  ///< at that time, where it may explain the change
};

/// What the reports of a trial amount to. The estimand is the wall-clock time per sample of a long
/// run: steps, with what interrupts them at its period, once the buffers that were full at the
/// start have drained.
struct Measurement {
  MeasurementStatus status = MeasurementStatus::no_reports;
  /// Wall-clock seconds per sample of the long run, phases included as often as they were seen: a
  /// mean over the window (not a median of steps). While `warming_up` or `not_steady` the mean so
  /// far, for display; NaN while there is none.
  double seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  /// Half-width of its 95 % confidence interval, in seconds per sample; infinite while unknown.
  double half_width_s = std::numeric_limits<double>::infinity();
  /// The steps alone, without phases and isolated stalls, over the same window.
  double step_seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  double step_half_width_s = std::numeric_limits<double>::infinity();  ///< of its 95 % interval
  /// How far the steps' mean scatters, by themselves: the interval is wider by what looks and a
  /// fading start are worth, and by how much steps vary in other trials. Not finite: not known.
  double step_standard_error_s = std::numeric_limits<double>::quiet_NaN();
  /// The most that the long run can take per sample if a buffer that was filled before the window
  /// still hides a slower stage; never below the upper end of the interval, infinite while unknown.
  /// A program that has consumed N samples t seconds after its process began has no buffered stage
  /// slower than t / N; where at most B samples can be buffered, a window of n samples in w
  /// seconds has none slower than w / (n - B).
  double slowest_seconds_per_sample = std::numeric_limits<double>::infinity();
  double startup_s = 0.0;  ///< process start to the first step's end less one steady step
  double warmup_s = 0.0;   ///< from there to the begin of the window
  /// What the warm-up took beyond as many steady steps (a compilation after the first step); less
  /// than 0 where it was faster (full buffers). A long run pays it once, as `startup_s`.
  double warmup_excess_s = 0.0;
  double window_s = 0.0;
  double window_steps = 0.0;
  double window_samples = 0.0;
  double total_samples = 0.0;  ///< as the program counts them; of a `whole_run` its own alone
  /// Whether the program told samples; else they are steps times what the study says a step holds,
  /// or steps. Nothing where it is not known.
  std::optional<bool> samples_told;
  /// True if it is known how many samples a step holds; otherwise a report counts as a step.
  /// Nothing without reports.
  std::optional<bool> steps_known;
  /// The program came to its own end, and this is all that it does by itself: what another launch
  /// of it differs by holds all that varies within a launch, too. Without a steady state the
  /// interval is mostly of what no launch of that length can tell of a longer run.
  bool whole_run = false;
  /// How long it had told no step when its time was over, where that was most of its time and no
  /// phase was under way: it may hang. Else 0.
  double silent_s = 0.0;
  /// The window's last steps differ from the others by what chance hardly explains, and too little
  /// to tell: throttling may just have begun. A trial that could end goes on to the next look. Of a
  /// running trial only, not kept in the history.
  bool may_have_just_changed = false;
  std::map<std::string, PhaseEstimate> phases;  ///< by name; `k_stall_phase`: not reported
  std::vector<LevelChange> level_changes;       ///< in order
  /// Why there is no steady state, or what was refused or repaired in the reports; for people.
  std::string remark;
  std::map<std::string, double> metrics;  ///< last value of each reported metric
  /// Standard errors of those `metrics` that are means over several reports, by name: the values
  /// that guards judged.
  std::map<std::string, double> metric_errors;
  std::map<std::string, double> parts;  ///< seconds per sample by part, over the window
  /// Metrics whose last value was NaN or infinite; a guard on one of them is violated.
  std::set<std::string> not_finite;

  /// Bounds of the window in seconds since the process began.
  [[nodiscard]] double window_begin_s() const { return startup_s + warmup_s; }
  [[nodiscard]] double window_end_s() const { return window_begin_s() + window_s; }
  /// What a long run pays once: the start-up, and what its warm-up takes beyond steady steps.
  [[nodiscard]] double once_s() const { return std::max(0.0, startup_s + warmup_excess_s); }
  /// Half-width relative to the mean; infinite while unknown.
  [[nodiscard]] double relative_half_width() const {
    return status == MeasurementStatus::steady ? half_width_s / seconds_per_sample
                                               : std::numeric_limits<double>::infinity();
  }
};

}  // namespace steptune
