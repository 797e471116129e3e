// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/measurer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/measure/phase_log.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "trial_runner/measure/steady_state.hpp"
#include "trial_runner/measure/stragglers.hpp"

namespace steptune {
namespace {

/// Share of a slow start that remains in the window's mean, as a multiple of the difference between
/// the window's halves. The multiple is 2.04 for a start that fades exponentially by the factor e
/// over the window. It is smaller for a start that fades faster. The value here is larger because
/// noise may hide a part of the difference.
constexpr double k_rest_of_slow_start = 2.5;
/// All reports of a process count as received at once if two things are true. They arrived within
/// the share `k_negligible_share` of its run time, and within this many seconds for each step.
constexpr double k_at_once_step_s = 1e-3;

double seconds_per_sample_or_zero(const Measurement& m) {
  return std::isfinite(m.step_seconds_per_sample) ? m.step_seconds_per_sample : 0.0;
}

}  // namespace

/// Measures one process of the trial.
struct Measurer::OneRank {
  explicit OneRank(const MeasureOptions& given) : options(given) {}

  MeasureOptions options;
  ProgressSeries series;
  CounterRestart restart;
  PhaseLog phases;
  bool samples_reported = false;
  double reports = 0.0;  ///< reports with a counter
  mutable Measurement measurement;
  /// Number of samples after the first report at which the next evaluation is due.
  mutable double next_evaluation_samples = 0.0;
  mutable std::optional<ProgressPoint> window_begin;
  mutable std::size_t window_index = 0;  ///< index of the window's first distinct point
  /// True if the widened confidence interval reached the target at the last evaluation.
  mutable bool was_tight = false;
  std::optional<ComparedRate> compared;

  void add(const Report& report) {
    for (const auto& [name, value] : report.metrics) {
      measurement.metrics.insert_or_assign(name, value);
      measurement.not_finite.erase(name);
    }
    for (const auto& name : report.not_finite) {
      measurement.metrics.erase(name);
      measurement.not_finite.insert(name);
    }
    // A report's counters were reached before the phase that it begins, but after the phase that it
    // ends.
    const bool begins = report.phase && !report.phase->seconds;
    if (report.phase && !begins) add_phase(report);
    add_point(report);
    if (begins) add_phase(report);
    if (report.compared) {
      compared = report.compared;
      take_compared();
    }
  }

  /// Uses the rate that the runner has compared since the trial's start. That rate excludes each
  /// warm-up, so it also excludes the effect of full buffers.
  void take_compared() {
    if (series.size() == 0) return;
    Measurement& m = measurement;
    const ProgressPoint& end = series.back();
    m.status = MeasurementStatus::steady;
    m.remark.clear();
    m.seconds_per_sample = m.step_seconds_per_sample = compared->seconds_per_sample;
    m.half_width_s = m.step_half_width_s = compared->half_width_s;
    m.step_standard_error_s = k_nan;
    m.slowest_seconds_per_sample = m.seconds_per_sample + m.half_width_s;
    m.startup_s = options.before_start_s;
    m.warmup_s = m.warmup_excess_s = 0.0;
    m.level_changes.clear();
    m.may_have_just_changed = false;
    m.phases.clear();
    m.window_s = end.received_s - options.started_s;
    m.window_steps = end.steps;
    m.window_samples = end.samples;
    account_parts({}, end.parts);
  }

  void add_point(const Report& report) {
    auto point = point_of(report);
    if (!point) return;
    if (series.size() > 0 && restart.is_seen(point->samples, series.back().samples)) begin_again();
    const double before = series.size() > 0 ? series.back().samples : 0.0;
    const double before_s = series.size() > 0 ? series.back().received_s : options.started_s;
    if (series.size() == 0 || point->samples > before) {
      const double steps_s = (point->samples - before) * seconds_per_sample_or_zero(measurement);
      phases.end_open(before, before_s + steps_s, point->received_s);
    }
    point->phase_s = phases.total_s();
    if (!series.add(*std::move(point))) return;
    measurement.total_samples = series.back().samples;
    measurement.samples_reported = samples_reported && !report.samples_assumed;
    measurement.slowest_seconds_per_sample = slowest();
  }

  void begin_again() {
    series.clear();
    phases = {};
    window_begin.reset();
    next_evaluation_samples = 0.0;
    was_tight = false;
  }

  void add_phase(const Report& report) {
    // Phases before the first step belong to the start-up, which is paid once.
    if (series.size() == 0) return;
    const double samples = series.back().samples;
    if (report.phase->seconds) {
      phases.ended(report.phase->name, samples, *report.phase->seconds);
    } else {
      phases.begins(report.phase->name, samples, report.received_s);
    }
  }

  std::optional<ProgressPoint> point_of(const Report& report) {
    if (report.samples && !samples_reported) {
      // Earlier points and phases count steps; later ones count samples. Start again.
      samples_reported = true;
      begin_again();
    }
    if (samples_reported ? !report.samples : !report.step) return std::nullopt;
    const std::optional<double>& per_step = options.samples_per_step;
    ProgressPoint point;
    point.samples = samples_reported ? *report.samples : *report.step * per_step.value_or(1.0);
    reports += 1.0;
    point.steps = report.step.value_or(per_step ? point.samples / *per_step : reports);
    measurement.steps_known = report.step.has_value() || per_step.has_value();
    point.received_s = report.received_s;
    point.clock_s = report.clock_s;
    point.parts = report.parts;
    const bool finite = std::isfinite(point.samples) && std::isfinite(point.received_s);
    return finite && point.samples >= 0.0 ? std::optional(std::move(point)) : std::nullopt;
  }

  [[nodiscard]] bool is_due() const {
    return !compared && series.size() > 0 &&
           series.back().samples - series[0].samples >= next_evaluation_samples;
  }

  void evaluate() const {
    next_evaluation_samples =
        std::max(k_evaluation_growth * (series.back().samples - series[0].samples), 1e-300);
    evaluate_with(was_tight ? 1.0 : k_widened_for_looks);
  }

  void evaluate_with(double widening) const {
    const std::vector<std::size_t> points = series.distinct_points();
    Measurement& m = measurement;
    window_index = find_steady_state(series, points, phases, options, widening, m);
    window_begin = series[points[window_index]];
    was_tight = m.status == MeasurementStatus::steady &&
                m.half_width_s * (k_widened_for_looks / widening) <=
                    options.target_half_width * m.seconds_per_sample;
    if (m.remark.empty()) m.remark = series.clock().fault();
    m.slowest_seconds_per_sample = slowest();
    if (std::isfinite(m.seconds_per_sample)) account(points);
  }

  [[nodiscard]] const Measurement& current() const {
    if (is_due()) evaluate();
    return measurement;
  }

  [[nodiscard]] std::optional<ProgressPoint> latest() const {
    return series.size() > 0 ? std::optional(series.back()) : std::nullopt;
  }

  [[nodiscard]] Measurement whole_run(double ended_s) const {
    if (compared || series.size() <= k_min_level_intervals) return current();
    evaluate_with(1.0);
    Measurement m = measurement;
    m.whole_run = true;
    m.may_have_just_changed = false;
    const ProgressPoint& end = series.back();
    const double process_s = ended_s - options.started_s;
    // Leave out samples from before the checkpoint at which the run resumed.
    m.total_samples = end.samples - series[0].samples + least_before_first();
    const double reported_s = series.time_s(series.size() - 1) - series.time_s(0);
    const bool at_once = !series.uses_own_clock() && reported_s < k_negligible_share * process_s &&
                         reported_s < k_at_once_step_s * (end.steps - series[0].steps);
    if (m.status == MeasurementStatus::steady && !at_once) return m;
    double half_width = m.half_width_s;
    if (at_once) {
      m.status = MeasurementStatus::warming_up;
      const double reported_samples = end.samples - series[0].samples;
      m.window_samples = reported_samples + least_before_first();
      m.window_steps = (end.steps - series[0].steps) * m.window_samples / reported_samples;
      m.seconds_per_sample = process_s / m.window_samples;
      half_width = k_bound_half_width * m.seconds_per_sample;
      m.startup_s = m.warmup_s = m.warmup_excess_s = 0.0;
      m.window_s = process_s;
      m.remark =
          "its output arrived only when it ended, so start-up time is counted as steps: let the "
          "program flush each line";
    } else {
      const std::vector<std::size_t> points = series.distinct_points();
      const double all = mean_rate(points.front(), points.back());
      if (!std::isfinite(m.seconds_per_sample)) m.seconds_per_sample = all;
      if (!std::isfinite(half_width)) half_width = 0.0;
      const double fades_s = difference_of_halves_s(std::span(points).subspan(window_index));
      half_width = std::max({half_width, k_unsteady_half_width * m.seconds_per_sample, -fades_s,
                             k_rest_of_slow_start * fades_s, std::abs(all - m.seconds_per_sample)});
      if (m.remark.empty() && 2 * points.size() < series.size()) {
        m.remark =
            "its lines came several at a time, as from a buffer: flush each, or begin the command "
            "with stdbuf -oL";
      }
    }
    m.half_width_s = half_width;
    m.slowest_seconds_per_sample =
        std::max(m.slowest_seconds_per_sample, m.seconds_per_sample + half_width);
    // The steps' own rate is unknown without a steady state.
    m.step_seconds_per_sample = k_nan;
    return m;
  }

  /// Returns seconds per sample between two points, including phases.
  [[nodiscard]] double mean_rate(std::size_t from, std::size_t to) const {
    return (series.time_s(to) - series.time_s(from)) / (series[to].samples - series[from].samples);
  }

  /// Returns seconds per sample of the first half of the samples minus seconds per sample of the
  /// second half; 0 with fewer than three points.
  [[nodiscard]] double difference_of_halves_s(std::span<const std::size_t> points) const {
    if (points.size() < 3) return 0.0;
    const double half = 0.5 * (series[points.front()].samples + series[points.back()].samples);
    const auto middle =
        std::ranges::lower_bound(points.subspan(1, points.size() - 2), half, {},
                                 [&](std::size_t point) { return series[point].samples; });
    const std::size_t at = middle == points.end() - 1 ? points[points.size() - 2] : *middle;
    return mean_rate(points.front(), at) - mean_rate(at, points.back());
  }

  /// Splits the trial's time into start-up, warm-up and window.
  void account(std::span<const std::size_t> points) const {
    Measurement& m = measurement;
    const ProgressPoint& first = series[points.front()];
    const ProgressPoint& begin = series[points[window_index]];
    const ProgressPoint& end = series[points.back()];
    const double first_s = first.received_s - options.started_s;
    const double own_s = std::max(0.0, first_s - before_first(first) * m.step_seconds_per_sample);
    m.startup_s = options.before_start_s + own_s;
    const double begin_s = series.time_s(points[window_index]);
    m.warmup_s = first_s - own_s + (begin_s - series.time_s(points.front()));
    m.window_s = series.time_s(points.back()) - begin_s;
    m.window_steps = std::max(0.0, end.steps - begin.steps);
    m.window_samples = end.samples - begin.samples;
    account_parts(begin.parts, end.parts);
  }

  /// Sets the seconds per sample of each part, from the cumulative seconds at the window's begin
  /// and end.
  void account_parts(const std::map<std::string, double>& begin,
                     const std::map<std::string, double>& end) const {
    Measurement& m = measurement;
    m.parts.clear();
    for (const auto& [part, seconds] : end) {
      const auto before = begin.find(part);
      const double spent = seconds - (before == begin.end() ? 0.0 : before->second);
      m.parts[part] = std::max(0.0, spent) / m.window_samples;
    }
  }

  /// Returns the samples processed before the first report. If the trial cannot have processed that
  /// many in its time, the counter continues from an earlier run.
  [[nodiscard]] double before_first(const ProgressPoint& first) const {
    const double at_most = (first.received_s - options.started_s) /
                           std::max(measurement.step_seconds_per_sample, 1e-300);
    return first.samples <= at_most || series.size() < 2 ? first.samples : least_before_first();
  }

  /// Returns a lower bound of the samples processed before the first report. A resumed run's
  /// counter may begin at any value, so the result is at most the difference between the first two
  /// reports. Needs two reports.
  [[nodiscard]] double least_before_first() const {
    return std::min(series[0].samples, series[1].samples - series[0].samples);
  }

  [[nodiscard]] double slowest() const {
    if (compared) return measurement.seconds_per_sample + measurement.half_width_s;
    if (series.size() < 2) return k_infinity;
    const ProgressPoint& end = series.back();
    const double consumed = end.samples - series[0].samples + least_before_first();
    double slowest = (end.received_s - options.started_s) / consumed;
    if (options.buffered_steps) {
      const ProgressPoint& begin = window_begin ? *window_begin : series[0];
      const double per_step = end.samples / std::max(1.0, end.steps);
      const double beyond_buffers =
          end.samples - begin.samples - *options.buffered_steps * per_step;
      const double window_s = end.received_s - begin.received_s;
      if (beyond_buffers > 0.0) slowest = std::min(slowest, window_s / beyond_buffers);
    }
    const double upper = measurement.seconds_per_sample + measurement.half_width_s;
    return std::isnan(upper) ? slowest : std::max(slowest, upper);
  }
};

Measurer::Measurer(const MeasureOptions& options) : options_(options) {
  if (!(options.samples_per_step.value_or(1.0) > 0.0)) options_.samples_per_step.reset();
}
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;
Measurer::~Measurer() = default;

void Measurer::add(const Report& report) {
  const int rank = report.global_rank.value_or(0);
  if (!ranks_.contains(rank) && std::ssize(ranks_) >= k_most_ranks) {
    // A rank that is ignored only changes the remark.
    if (rank > unheeded_rank_) {
      unheeded_rank_ = rank;
      combine();
    }
    return;
  }
  std::unique_ptr<OneRank>& one = ranks_[rank];
  if (!one) one = std::make_unique<OneRank>(options_);
  one->add(report);
  if (ranks_.size() > 1) combine();
}

const Measurement& Measurer::current() const {
  return ranks_.size() == 1 ? ranks_.begin()->second->current() : combined_;
}

std::optional<ProgressPoint> Measurer::latest() const {
  return ranks_.empty() ? std::nullopt : ranks_.begin()->second->latest();
}

Measurement Measurer::whole_run(double ended_s) const {
  std::map<int, Measurement> whole_runs;
  for (const auto& [rank, one] : ranks_)
    whole_runs.emplace(rank, one->whole_run(ended_s));
  if (whole_runs.empty()) return {};
  if (whole_runs.size() == 1) return std::move(whole_runs.begin()->second);
  std::map<int, const Measurement*> measured;
  for (const auto& [rank, whole_run] : whole_runs)
    measured.emplace(rank, &whole_run);
  return combination_of(measured);
}

void Measurer::combine() {
  std::map<int, const Measurement*> measured;
  for (const auto& [rank, one] : ranks_)
    measured.emplace(rank, &one->current());
  combined_ = combination_of(measured);
}

Measurement Measurer::combination_of(const std::map<int, const Measurement*>& measured) const {
  Measurement combined = *measured.at(slowest_rank(measured));
  const Measurement& first = *measured.begin()->second;
  combined.metrics = first.metrics;
  combined.not_finite = first.not_finite;
  add_clause(combined.remark, stragglers(measured));
  if (unheeded_rank_ < 0) return combined;
  add_clause(combined.remark,
             fmt::format("only the first {} ranks that report are measured: reports of "
                         "others, up to rank {}, are ignored",
                         k_most_ranks, unheeded_rank_));
  return combined;
}

}  // namespace steptune
