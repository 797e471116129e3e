// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/measurer.hpp"

#include <algorithm>
#include <cmath>

#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/measure/warmup.hpp"

namespace steptune {
namespace {

/// A rate that changes by less over the window is as steady as anyone needs.
constexpr double k_tolerated_drift = 0.05;
/// Where the warm-up reaches the middle of all that was seen, the end of it is not in sight unless
/// the rest is this certain.
constexpr double k_convincing_half_width = 0.05;
/// From so many intervals on, no steady state is a finding and not a lack of patience.
constexpr std::size_t k_patience_intervals = 40;

}  // namespace

struct Measurer::State {
  MeasureOptions options;
  ProgressSeries series;
  bool samples_told = false;
  mutable Measurement measurement;
  mutable bool stale = false;

  void add(const Report& report) {
    for (const auto& [name, value] : report.metrics) {
      measurement.metrics.insert_or_assign(name, value);
      measurement.not_finite.erase(name);
    }
    for (const auto& name : report.not_finite) {
      measurement.metrics.erase(name);
      measurement.not_finite.insert(name);
    }
    if (auto point = point_of(report); point && series.add(*std::move(point))) stale = true;
  }

  std::optional<ProgressPoint> point_of(const Report& report) {
    if (report.samples && !samples_told) {
      // Points that counted steps cannot be continued in samples.
      samples_told = true;
      series.clear();
    }
    if (samples_told ? !report.samples : !report.step) return std::nullopt;
    const double per_step = options.samples_per_step.value_or(1.0);
    ProgressPoint point;
    point.samples = samples_told ? *report.samples : *report.step * per_step;
    point.steps = report.step.value_or(point.samples / per_step);
    point.received_s = report.received_s;
    point.clock_s = report.clock_s;
    point.parts = report.parts;
    const bool finite = std::isfinite(point.samples) && std::isfinite(point.received_s);
    return finite && point.samples >= 0.0 ? std::optional(std::move(point)) : std::nullopt;
  }

  void measure() const {
    stale = false;
    const std::vector<Interval> intervals = series.intervals();
    const Warmup warmup = find_warmup(intervals);
    const std::size_t cut = warmup.intervals;
    const std::span<const Interval> window = std::span(intervals).subspan(cut);
    const RateEstimate rate = estimate_rate(window);
    Measurement& m = measurement;
    m.seconds_per_sample = rate.seconds_per_sample;
    m.half_width_s = rate.half_width_s;
    m.total_samples = series.back().samples;
    m.status = status_of(rate, intervals.size(), warmup.at_limit, window);
    if (!std::isfinite(rate.seconds_per_sample)) return;

    const ProgressPoint& first = series[0];
    const ProgressPoint& begin = series[cut];
    const ProgressPoint& end = series.back();
    m.slowest_seconds_per_sample = slowest_of(rate, cut);
    m.step_seconds_per_sample = rate.seconds_per_sample;
    m.step_half_width_s = rate.half_width_s;
    const double first_steps_s = first.samples * rate.seconds_per_sample;
    const double first_s = first.received_s - options.started_s;
    m.startup_s = std::max(0.0, first_s - first_steps_s);
    double warmup_after_first_s = 0.0;
    for (const Interval& interval : std::span(intervals).first(cut))
      warmup_after_first_s += interval.seconds;
    m.warmup_s = first_s - m.startup_s + warmup_after_first_s;
    m.warmup_excess_s =
        warmup_after_first_s - (begin.samples - first.samples) * rate.seconds_per_sample;
    m.window_s = 0.0;
    for (const Interval& interval : window)
      m.window_s += interval.seconds;
    m.window_steps = std::max(0.0, end.steps - begin.steps);
    m.window_samples = end.samples - begin.samples;
    m.parts.clear();
    for (const auto& [part, seconds] : end.parts) {
      const auto before = begin.parts.find(part);
      const double spent = seconds - (before == begin.parts.end() ? 0.0 : before->second);
      m.parts[part] = std::max(0.0, spent) / m.window_samples;
    }
  }

  /// A counter may begin anywhere (a resumed run): before the first report as much was consumed as
  /// between two others.
  double consumed_samples(std::size_t from) const {
    const double before =
        from > 0 ? 0.0 : std::min(series[0].samples, series[1].samples - series[0].samples);
    return series.back().samples - series[from].samples + before;
  }

  double slowest_of(const RateEstimate& rate, std::size_t window_begin) const {
    const double t_s = series.back().received_s - options.started_s;
    double slowest = t_s / consumed_samples(0);
    if (options.buffered_steps) {
      const double per_step = series.back().samples / std::max(1.0, series.back().steps);
      const double beyond_buffers =
          series.back().samples - series[window_begin].samples - *options.buffered_steps * per_step;
      const double window_s = series.back().received_s - series[window_begin].received_s;
      if (beyond_buffers > 0.0) slowest = std::min(slowest, window_s / beyond_buffers);
    }
    return std::max(slowest, rate.seconds_per_sample + rate.half_width_s);
  }

  static MeasurementStatus status_of(const RateEstimate& rate, std::size_t intervals,
                                     bool half_is_warmup, std::span<const Interval> window) {
    if (!std::isfinite(rate.seconds_per_sample)) return MeasurementStatus::no_reports;
    if (!std::isfinite(rate.half_width_s)) return MeasurementStatus::warming_up;
    const bool uncertain = rate.half_width_s > k_convincing_half_width * rate.seconds_per_sample;
    const bool drifts = std::abs(significant_drift(window)) > k_tolerated_drift;
    if (!drifts && !(half_is_warmup && uncertain)) return MeasurementStatus::steady;
    return intervals >= k_patience_intervals ? MeasurementStatus::not_steady
                                             : MeasurementStatus::warming_up;
  }
};

Measurer::Measurer(const MeasureOptions& options) : state_(std::make_unique<State>()) {
  state_->options = options;
  if (!(options.samples_per_step.value_or(1.0) > 0.0)) state_->options.samples_per_step.reset();
}
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;
Measurer::~Measurer() = default;

void Measurer::add(const Report& report) {
  state_->add(report);
}

const Measurement& Measurer::current() const {
  if (state_->stale) state_->measure();
  return state_->measurement;
}

}  // namespace steptune
