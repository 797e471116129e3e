// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/measure/level_shift.hpp"
#include "trial_runner/measure/phase_cost.hpp"
#include "trial_runner/measure/ratio_in_turns.hpp"
#include "trial_runner/measure/recent_change.hpp"
#include "trial_runner/measure/stalls.hpp"
#include "trial_runner/measure/usual_noise.hpp"
#include "trial_runner/measure/warmup.hpp"

namespace steptune {
namespace {

/// If the warm-up reaches the middle of the data, its end is doubtful. Exception: the relative
/// half-width of the remaining data's rate is at most this.
constexpr double k_convincing_half_width = 0.06;
/// Share of the level's samples above which a warm-up reaches the middle. It is less than a half,
/// because intervals differ in length.
constexpr double k_half_of_samples = 0.4;
/// With at least this many intervals, a trial without a steady state counts as `not_steady`. With
/// fewer, it counts as still warming up.
constexpr std::size_t k_patience_intervals = 40;
/// A cut-off part counts as a fading slow start if it is slower than the window by this many
/// half-widths.
constexpr double k_fading_half_widths = 2.0;
/// Share of a slow start that remains in the window's mean, as a multiple of the difference between
/// the window's halves. Valid for a start that fades exponentially and is half as large in the
/// window's second half as in the first.
constexpr double k_rest_of_fading = 1.5;
/// The window must have this many times as many samples as a fading start.
constexpr double k_window_to_fading = 1.5;
/// Stalls are of one kind if each duration, in ascending order, is at most this multiple of the one
/// before it.
constexpr double k_alike = 1.4;

/// Groups stalls by similar durations, so that two periodic kinds are separated.
std::vector<PhaseEvents> kinds_of(std::span<const Stall> stalls, double first_samples) {
  std::vector<double> durations;
  for (const Stall& stall : stalls)
    durations.push_back(stall.seconds);
  std::sort(durations.begin(), durations.end());
  std::vector<double> limits;
  for (std::size_t i = 1; i < durations.size(); ++i) {
    if (durations[i] > k_alike * durations[i - 1]) limits.push_back(durations[i]);
  }
  std::vector<PhaseEvents> kinds(limits.size() + 1);
  for (const Stall& stall : stalls) {
    const auto kind = std::upper_bound(limits.begin(), limits.end(), stall.seconds);
    kinds[static_cast<std::size_t>(kind - limits.begin())].add(first_samples + stall.at_samples,
                                                               stall.seconds);
  }
  return kinds;
}

struct Costs {
  double seconds_per_sample = 0.0;
  double half_width_s = 0.0;
  std::map<std::string, PhaseEstimate> phases;

  void add(const std::string& name, const PhaseCost& cost) {
    if (cost.phase.count == 0.0) return;
    seconds_per_sample += cost.seconds_per_sample;
    half_width_s = std::hypot(half_width_s, cost.half_width_s);
    phases[name] = cost.phase;
  }
};

/// Adds the stalls' costs: each kind separately if all are periodic, otherwise all together.
void add_stalls(Costs& costs, std::span<const Stall> stalls, double begin, double end,
                double resolution) {
  std::size_t number = 0;
  const auto name = [&] {
    ++number;
    return number == 1 ? std::string(k_stall_phase) : fmt::format("{} {}", k_stall_phase, number);
  };
  PhaseEvents all;
  for (const Stall& stall : stalls)
    all.add(begin + stall.at_samples, stall.seconds);
  std::vector<PhaseCost> periodic;
  double events = 0.0;
  for (const PhaseEvents& kind : kinds_of(stalls, begin)) {
    const PhaseCost cost = PhaseCost::of(kind, begin, end, resolution);
    if (!cost.periodic) continue;
    periodic.push_back(cost);
    events += cost.phase.count;
  }
  // If one kind is not periodic, treat all stalls as random events.
  if (events < all.count()) periodic.assign(1, PhaseCost::of(all, begin, end, resolution));
  for (const PhaseCost& cost : periodic)
    costs.add(name(), cost);
}

double longest_of(std::span<const Interval> intervals) {
  double longest = 0.0;
  for (const Interval& interval : intervals)
    longest = std::max(longest, interval.samples);
  return longest;
}

double rate_of(std::span<const Interval> intervals) {
  const Interval sum = sum_of(intervals);
  return sum.samples > 0.0 ? sum.seconds / sum.samples : 0.0;
}

double samples_of(std::span<const Interval> intervals) {
  return sum_of(intervals).samples;
}

/// Returns by how much the cut-off part is slower than the window, as a multiple of the
/// difference's half-width.
double excess_in_half_widths(std::span<const Interval> cut_off, const RateEstimate& rate,
                             std::size_t window_intervals) {
  if (cut_off.empty() || !std::isfinite(rate.half_width_s)) return 0.0;
  const double share = static_cast<double>(window_intervals) / static_cast<double>(cut_off.size());
  return (rate_of(cut_off) - rate.seconds_per_sample) /
         std::max(rate.half_width_s * std::sqrt(1.0 + share), 1e-12 * rate.seconds_per_sample);
}

/// The part of the steps that is measured.
struct Window {
  std::vector<LevelShift> shifts;  ///< changes of level before it
  std::size_t level = 0;           ///< first interval of the last level
  Warmup warmup;
  std::size_t begin = 0;
  RateEstimate rate;
  bool may_fade = false;  ///< the cut-off slow start is too long for the window

  [[nodiscard]] std::size_t warmup_end(std::size_t start) const {
    return shifts.empty() ? begin : start;
  }
};

/// Moves `window.level` from the first interval after the start-up to the last level.
void find_last_level(std::span<const Interval> steps, Window& window) {
  for (;;) {
    const std::size_t begin = window.level;
    const auto shifts = find_level_shifts(steps.subspan(begin));
    if (shifts.empty()) return;
    for (LevelShift shift : shifts) {
      // A slow first level is a warm-up, however long it is.
      const bool slow_start = window.shifts.empty() && shift.after < shift.before;
      shift.interval += begin;
      // A level with too few intervals to estimate its rate is a part of the warm-up.
      if (!slow_start && shift.interval - window.level >= k_min_intervals) {
        window.shifts.push_back(shift);
      }
      window.level = shift.interval;
    }
  }
}

/// Returns the window of a trial in turns: all intervals but the first quarter.
Window window_in_turns(std::span<const Interval> steps, std::size_t start, double widening) {
  Window window;
  window.level = start;
  const std::span<const Interval> level = steps.subspan(start);
  window.warmup.intervals = level.size() / k_warmup_divisor_in_turns;
  window.begin = start + window.warmup.intervals;
  window.rate = estimate_rate_in_turns(steps.subspan(window.begin), widening);
  return window;
}

/// Returns the window of a trial without turns. `start` is the first interval after the start-up.
Window window_of(std::span<const Interval> steps, std::size_t start, double widening) {
  Window window;
  window.level = start;
  find_last_level(steps, window);
  const std::span<const Interval> level = steps.subspan(window.level);
  window.warmup = find_warmup(level);
  const std::size_t cut = window.warmup.intervals;
  // A difference within the half-width is chance, so nothing is cut off.
  if (std::abs(excess_in_half_widths(level.first(cut), estimate_rate(level.subspan(cut), widening),
                                     level.size() - cut)) < 1.0) {
    window.warmup = {};
  }
  // Intervals differ in length, so half of the intervals may not have half of the samples.
  window.warmup.at_limit = window.warmup.at_limit &&
                           samples_of(level.first(cut)) > k_half_of_samples * samples_of(level);
  window.begin = window.level + window.warmup.intervals;
  const std::span<const Interval> rest = steps.subspan(window.begin);
  window.rate = estimate_rate(rest, widening);

  const std::size_t from = window.shifts.empty() ? start : window.shifts.back().interval;
  const std::span<const Interval> cut_off = steps.subspan(from, window.begin - from);
  if (cut_off.size() > 1 &&
      excess_in_half_widths(cut_off, window.rate, rest.size()) > k_fading_half_widths) {
    const double in_mean_s = k_rest_of_fading * std::max(0.0, difference_of_halves(rest));
    window.rate.half_width_s = std::hypot(window.rate.half_width_s, in_mean_s);
    window.may_fade = k_window_to_fading * samples_of(cut_off) > samples_of(rest);
  }
  return window;
}

/// Resets status, rates, phases and remark.
void forget_rates(Measurement& measurement) {
  measurement.status = MeasurementStatus::no_reports;
  measurement.remark.clear();
  measurement.seconds_per_sample = measurement.step_seconds_per_sample = k_nan;
  measurement.half_width_s = measurement.step_half_width_s = k_infinity;
  measurement.step_standard_error_s = k_infinity;
  measurement.may_have_just_changed = false;
  measurement.phases.clear();
}

/// Sets status and remark from the window.
void set_status(Measurement& measurement, std::span<const Interval> steps, const Window& window,
                bool in_turns) {
  const RateEstimate& rate = window.rate;
  if (!std::isfinite(rate.seconds_per_sample)) return;
  measurement.status = MeasurementStatus::warming_up;
  if (in_turns) {
    if (std::isfinite(rate.half_width_s)) measurement.status = MeasurementStatus::steady;
    return;
  }
  const double drift = significant_drift(steps.subspan(window.begin));
  const bool drifts = std::abs(drift) > k_noticeable_difference;
  const bool uncertain = !(rate.half_width_s <= k_convincing_half_width * rate.seconds_per_sample);
  if (drifts || (window.warmup.at_limit && uncertain)) {
    if (steps.size() < k_patience_intervals) return;
    measurement.status = MeasurementStatus::not_steady;
    measurement.remark =
        drifts ? fmt::format("the rate drifts: by {:.0f} % over the window", 100.0 * drift)
               : "the warm-up takes half of the window or more";
    return;
  }
  if (std::isfinite(rate.half_width_s) && !window.may_fade) {
    measurement.status = MeasurementStatus::steady;
  }
}

/// Returns the changes of level as counted from the trial's start.
std::vector<LevelChange> level_changes(std::span<const LevelShift> shifts,
                                       const ProgressSeries& series,
                                       std::span<const std::size_t> points, double started_s) {
  std::vector<LevelChange> changes;
  for (const LevelShift& shift : shifts) {
    const ProgressPoint& at = series[points[shift.interval]];
    changes.push_back({at.samples, at.received_s - started_s, shift.after / shift.before});
  }
  return changes;
}

}  // namespace

std::size_t find_steady_state(const ProgressSeries& series, std::span<const std::size_t> points,
                              const PhaseLog& reported, const MeasureOptions& options,
                              double widening, Measurement& measurement) {
  forget_rates(measurement);
  const std::vector<Interval> intervals = series.intervals(points);
  if (intervals.empty()) return 0;
  std::vector<Stall> stalls = find_stalls(intervals);
  std::size_t start = 0;
  // Before the first level, a stall belongs to the start: a compilation, the first evaluation.
  while (!stalls.empty() && stalls.front().interval < k_min_level_intervals) {
    start = stalls.front().interval + 1;
    stalls.erase(stalls.begin());
  }
  const std::vector<Interval> steps = without_stalls(intervals, stalls);
  Window window = options.in_turns ? window_in_turns(steps, start, widening)
                                   : window_of(steps, start, widening);
  const std::span<const Interval> counted = std::span(steps).subspan(window.begin);
  window.rate.half_width_s =
      with_usual_noise(window.rate.half_width_s, window.rate.seconds_per_sample,
                       sum_of(counted).seconds, counted.size(), options.usual_variance_s);

  const double first_samples = series[points.front()].samples;
  const double end_samples = first_samples + samples_of(intervals);
  const double resolution = longest_of(intervals);
  Costs costs;
  add_stalls(costs, stalls, first_samples, end_samples, resolution);
  for (const auto& [name, events] : reported.events())
    costs.add(name, PhaseCost::of(events, first_samples, end_samples, resolution));

  measurement.phases = std::move(costs.phases);
  measurement.may_have_just_changed =
      !options.in_turns && may_have_just_changed(counted, window.rate);
  measurement.step_seconds_per_sample = window.rate.seconds_per_sample;
  measurement.step_half_width_s = window.rate.half_width_s;
  measurement.step_standard_error_s = window.rate.standard_error_s;
  measurement.seconds_per_sample = window.rate.seconds_per_sample + costs.seconds_per_sample;
  measurement.half_width_s = std::hypot(window.rate.half_width_s, costs.half_width_s);
  set_status(measurement, steps, window, options.in_turns);
  if (std::isfinite(measurement.seconds_per_sample)) {
    const Interval warmup = sum_of(std::span(steps).first(window.warmup_end(start)));
    measurement.warmup_excess_s =
        warmup.seconds - warmup.samples * measurement.step_seconds_per_sample;
    measurement.level_changes = level_changes(window.shifts, series, points, options.started_s);
  }
  return window.begin;
}

}  // namespace steptune
