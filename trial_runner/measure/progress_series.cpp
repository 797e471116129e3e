// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_series.hpp"

#include <algorithm>
#include <utility>

#include "trial_runner/measure/distinct_points.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "trial_runner/report.hpp"

namespace steptune {
namespace {

/// Lines may wait this long in a buffer.
constexpr double k_clock_slack_s = 60.0;
/// Clocks in another unit differ by much more than this factor.
constexpr double k_clock_factor = 3.0;

}  // namespace

Interval sum_of(std::span<const Interval> intervals) {
  Interval sum;
  for (const Interval& interval : intervals)
    sum += interval;
  return sum;
}

void ClockComparison::add(double received_s, std::optional<double> clock_s) {
  has_clock_ = has_clock_ && clock_s;
  if (!has_clock_) return;
  if (any_) {
    const double silence_s = received_s - received_s_;
    went_back_ = went_back_ || *clock_s < clock_s_;
    longest_silence_s_ = std::max(longest_silence_s_, silence_s);
    largest_step_ahead_s_ = std::max(largest_step_ahead_s_, *clock_s - clock_s_ - silence_s);
  } else {
    first_received_s_ = received_s;
    first_clock_s_ = *clock_s;
  }
  any_ = true;
  received_s_ = received_s;
  clock_s_ = *clock_s;
}

std::string ClockComparison::fault() const {
  if (!has_clock_) return {};
  if (went_back_) return "the trial's clock goes back (several processes print?): not used";
  if (largest_step_ahead_s_ > longest_silence_s_ + k_clock_rounding_s) {
    return "the trial's clock was set while it ran: not used";
  }
  const double clock_s = clock_s_ - first_clock_s_;
  const double received_s = received_s_ - first_received_s_;
  const bool stands = clock_s <= 0.0 && received_s > 0.0;
  if (!stands && clock_s <= k_clock_factor * received_s + k_clock_slack_s &&
      received_s <= k_clock_factor * clock_s + k_clock_slack_s) {
    return {};
  }
  return "the trial's clock does not agree with the time at which its lines arrive: not used";
}

bool CounterRestart::is_seen(double samples, double latest) {
  if (samples >= latest) {
    in_a_row_ = 0;
  } else if (in_a_row_ > 0 && samples >= before_) {
    in_a_row_ += samples > before_ ? 1 : 0;
  } else {
    in_a_row_ = 2.0 * samples < latest ? 1 : 0;
  }
  before_ = samples;
  if (in_a_row_ < k_reports_of_restart) return false;
  in_a_row_ = 0;
  return true;
}

bool ProgressSeries::add(ProgressPoint point) {
  if (size() > 0 && point.samples <= back().samples) return false;
  clock_.add(point.received_s, point.clock_s);
  latest_ = std::move(point);
  ++since_kept_;
  if (points_.empty() || since_kept_ >= stride_) {
    points_.push_back(*std::move(latest_));
    latest_.reset();
    since_kept_ = 0;
    if (points_.size() >= k_max_points) thin();
  }
  return true;
}

void ProgressSeries::clear() {
  *this = ProgressSeries{};
}

void ProgressSeries::thin() {
  // The number of points is even: keep the first of each pair. The last point becomes the latest.
  latest_ = points_.back();
  for (std::size_t i = 1; 2 * i < points_.size(); ++i)
    points_[i] = std::move(points_[2 * i]);
  points_.resize(points_.size() / 2);
  since_kept_ = stride_;
  stride_ *= 2;
}

double ProgressSeries::time_s(std::size_t i) const {
  const ProgressPoint& point = (*this)[i];
  return uses_own_clock() ? *point.clock_s : point.received_s;
}

std::vector<std::size_t> ProgressSeries::distinct_points() const {
  std::vector<double> times_s;
  for (std::size_t i = 0; i < size(); ++i)
    times_s.push_back(time_s(i));
  return steptune::distinct_points(times_s);
}

std::vector<Interval> ProgressSeries::intervals(std::span<const std::size_t> distinct) const {
  std::vector<Interval> intervals;
  if (distinct.size() < 2) return intervals;
  intervals.reserve(distinct.size() - 1);
  for (std::size_t i = 1; i < distinct.size(); ++i) {
    const ProgressPoint& from = (*this)[distinct[i - 1]];
    const ProgressPoint& to = (*this)[distinct[i]];
    const double seconds = time_s(distinct[i]) - time_s(distinct[i - 1]);
    intervals.push_back(
        {to.samples - from.samples, std::max(0.0, seconds - (to.phase_s - from.phase_s))});
  }
  return intervals;
}

}  // namespace steptune
