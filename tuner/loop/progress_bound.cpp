// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/progress_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace steptune {
namespace {

/// The least relative half-width of a rate without a steady state.
constexpr double k_least_half_width = 0.1;
/// That of a rate of which a bound is all that is known.
constexpr double k_bound_half_width = 0.5;

}  // namespace

ProgressBound::ProgressBound(std::optional<double> samples_per_step)
    : samples_per_step_(samples_per_step.value_or(1.0)) {}

void ProgressBound::add(const Report& report) {
  if (!report.samples && !report.step) return;
  const double samples = report.samples.value_or(report.step.value_or(0.0) * samples_per_step_);
  if (!std::isfinite(samples) || samples <= last_samples_) return;
  most_between_reports_ = std::max(most_between_reports_, samples - last_samples_);
  last_s_ = report.received_s;
  last_samples_ = samples;
  if (++count_ > 1) return;
  first_s_ = last_s_;
  first_samples_ = samples;
}

std::optional<double> ProgressBound::least_seconds_per_sample(double now_s) const {
  if (count_ == 0 || now_s <= first_s_) return std::nullopt;
  return (now_s - first_s_) / (last_samples_ - first_samples_ + most_between_reports_);
}

std::optional<double> ProgressBound::seconds_per_sample() const {
  if (!(last_samples_ > first_samples_) || !(last_s_ > first_s_)) return std::nullopt;
  return (last_s_ - first_s_) / (last_samples_ - first_samples_);
}

Measurement unsteady_at_limit(Measurement measurement, const ProgressBound& progress,
                              double now_s) {
  if (measurement.status == MeasurementStatus::steady) return measurement;
  const auto least = progress.least_seconds_per_sample(now_s);
  if (!least) return measurement;
  const auto all = progress.seconds_per_sample();
  double& rate = measurement.seconds_per_sample;
  double half_width = std::isfinite(measurement.half_width_s) ? measurement.half_width_s : 0.0;
  if (!all) {
    rate = *least;
    half_width = k_bound_half_width * rate;
  } else {
    if (!std::isfinite(rate)) rate = *all;
    half_width =
        std::max({half_width, k_least_half_width * rate, rate - *least, std::abs(*all - rate)});
  }
  measurement.half_width_s = half_width;
  measurement.slowest_seconds_per_sample =
      std::max(measurement.slowest_seconds_per_sample, rate + half_width);
  // The steps' own interval does not know of this.
  measurement.step_seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  return measurement;
}

Measurement as_if_steady(Measurement measurement) {
  if (std::isfinite(measurement.seconds_per_sample) && std::isfinite(measurement.half_width_s)) {
    measurement.status = MeasurementStatus::steady;
  }
  return measurement;
}

std::optional<std::string> why_slow(const Measurement& measurement, const ProgressBound& progress,
                                    double now_s) {
  const bool too_few = measurement.status == MeasurementStatus::no_reports ||
                       measurement.status == MeasurementStatus::warming_up;
  const auto least = progress.least_seconds_per_sample(now_s);
  if (!too_few || !least) return std::nullopt;
  return fmt::format(
      "slow: at least {:.3g} s per sample ({:.0f} samples in all), too few reports for a closer "
      "look within \"max_trial\"",
      *least, measurement.total_samples);
}

}  // namespace steptune
