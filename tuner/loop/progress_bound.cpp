// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/progress_bound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune {

ProgressBound::ProgressBound(std::optional<double> samples_per_step)
    : samples_per_step_(samples_per_step.value_or(1.0)) {}

bool ProgressBound::add(const Report& report) {
  // The program reached the counters of this report before it began the report's phase.
  if (report.phase && report.phase->seconds) end_phase(*report.phase->seconds, report.received_s);
  const bool begins_again = add_counters(report);
  if (report.phase && !report.phase->seconds && !phase_began_s_) {
    phase_began_s_ = report.received_s;
    supposed_s_ = 0.0;
  }
  return begins_again;
}

void ProgressBound::end_phase(double seconds, double now_s) {
  phase_began_s_.reset();
  steps_since_s_ = now_s;
  phases_s_ -= std::exchange(supposed_s_, 0.0);
  if (std::isfinite(seconds)) phases_s_ += std::max(0.0, seconds);
}

std::optional<double> ProgressBound::samples_of(const Report& report) {
  if (report.samples && !samples_reported_) {
    // Start anew, because a count of steps cannot continue in samples.
    *this = ProgressBound(samples_per_step_);
    samples_reported_ = true;
  }
  if (samples_reported_) return report.samples;
  if (!report.step) return std::nullopt;
  return *report.step * samples_per_step_;
}

bool ProgressBound::add_counters(const Report& report) {
  const auto samples = samples_of(report);
  if (!samples || !std::isfinite(*samples)) return false;
  const bool begins_again = count_ > 0 && restart_.is_seen(*samples, last_samples_);
  if (begins_again) {
    const bool samples_reported = samples_reported_;
    *this = ProgressBound(samples_per_step_);
    samples_reported_ = samples_reported;
  }
  add_progress(*samples, report.received_s);
  return begins_again;
}

void ProgressBound::add_progress(double samples, double at_s) {
  if (samples <= last_samples_) return;
  if (phase_began_s_) {
    // Assume this duration until the phase reports its own, if it ever does.
    const double supposed_s = std::max(0.0, at_s - *phase_began_s_);
    end_phase(supposed_s, at_s);
    supposed_s_ = supposed_s;
  }
  const double since_last = samples - last_samples_;
  // The first count also has the samples before a checkpoint. So use differences as soon as there
  // are two reports.
  most_between_reports_ = count_ == 1 ? since_last : std::max(most_between_reports_, since_last);
  last_s_ = at_s;
  last_samples_ = samples;
  keep({last_s_, samples});
  if (++count_ > 1) return;
  first_s_ = last_s_;
  first_samples_ = samples;
  steps_since_s_ = first_s_;
  phases_s_ = supposed_s_ = 0.0;
}

void ProgressBound::keep(Point point) {
  if (count_ % stride_ != 0) return;
  points_.push_back(point);
  if (points_.size() < k_max_points) return;
  for (std::size_t i = 0; 2 * i < points_.size(); ++i)
    points_[i] = points_[2 * i];
  points_.resize(points_.size() / 2);
  stride_ *= 2;
}

std::optional<double> ProgressBound::least_seconds_per_sample(double now_s) const {
  if (count_ == 0) return std::nullopt;
  // Only a phase has followed the first report, so nothing bounds the speed of the steps yet.
  if (count_ == 1 && phase_began_s_) return std::nullopt;
  const double from_s = count_ == 1 ? steps_since_s_ : first_s_;
  const double until_s = phase_began_s_ ? std::min(now_s, *phase_began_s_) : now_s;
  if (!(until_s > from_s)) return std::nullopt;
  return (until_s - from_s) / (last_samples_ - first_samples_ + most_between_reports_);
}

std::optional<double> ProgressBound::seconds_per_sample() const {
  if (!(last_samples_ > first_samples_) || !(last_s_ > first_s_)) return std::nullopt;
  return (last_s_ - first_s_) / (last_samples_ - first_samples_);
}

double ProgressBound::phase_seconds_per_sample() const {
  return last_samples_ > first_samples_ ? phases_s_ / (last_samples_ - first_samples_) : 0.0;
}

double ProgressBound::difference_of_halves() const {
  const double half = 0.5 * (first_samples_ + last_samples_);
  const auto middle = std::ranges::lower_bound(points_, half, {}, &Point::samples);
  if (middle == points_.end() || middle->samples <= first_samples_ ||
      middle->samples >= last_samples_) {
    return 0.0;
  }
  const double early = (middle->at_s - first_s_) / (middle->samples - first_samples_);
  const double late = (last_s_ - middle->at_s) / (last_samples_ - middle->samples);
  return std::abs(late - early);
}

Measurement unsteady_at_limit(Measurement measurement, const ProgressBound& progress,
                              double now_s) {
  if (measurement.status == MeasurementStatus::steady) return measurement;
  const auto least = progress.least_seconds_per_sample(now_s);
  if (!least) return measurement;
  const auto all = progress.seconds_per_sample();
  double& rate = measurement.seconds_per_sample;
  const bool has_interval = std::isfinite(measurement.half_width_s);
  double half_width = has_interval ? measurement.half_width_s : progress.difference_of_halves();
  if (!all) {
    rate = *least;
    half_width = k_bound_half_width * rate;
  } else {
    if (!std::isfinite(rate)) {
      rate = *all;
      half_width = std::max(half_width, progress.phase_seconds_per_sample());
    }
    half_width =
        std::max({half_width, k_unsteady_half_width * rate, rate - *least, std::abs(*all - rate)});
  }
  measurement.half_width_s = half_width;
  measurement.slowest_seconds_per_sample =
      std::max(measurement.slowest_seconds_per_sample, rate + half_width);
  // The steps' own rate does not include this uncertainty, so it does not count.
  measurement.step_seconds_per_sample = k_nan;
  return measurement;
}

Measurement marked_steady(Measurement measurement) {
  if (std::isfinite(measurement.seconds_per_sample) && std::isfinite(measurement.half_width_s)) {
    measurement.status = MeasurementStatus::steady;
  }
  return measurement;
}

std::optional<std::string> why_slow(const Measurement& measurement, const ProgressBound& progress,
                                    double now_s, const UnitName& unit) {
  const bool too_few = measurement.status == MeasurementStatus::no_reports ||
                       measurement.status == MeasurementStatus::warming_up;
  const auto least = progress.least_seconds_per_sample(now_s);
  if (!too_few || !least) return std::nullopt;
  return fmt::format(
      "at least {:.3g} s per {} ({:.0f} {} in all): too few reports to measure the speed within "
      "\"max_trial\"",
      *least, unit.singular(), measurement.total_samples, unit.plural);
}

}  // namespace steptune
