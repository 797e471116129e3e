// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/progress_track.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "common/interval.hpp"
#include "trial_runner/measure/distinct_points.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_batches = 20;
constexpr std::size_t k_least_batches = 5;
/// A rate deviates from a promise if it differs by at least this many standard errors. The number
/// is larger than 2, because the change point is chosen among many points.
constexpr double k_convincing_errors = 3.0;

std::size_t first_at(std::span<const TrackPoint> points, double from_s) {
  const auto found = std::ranges::lower_bound(points, from_s, {}, &TrackPoint::time_s);
  return static_cast<std::size_t>(found - points.begin());
}

std::vector<TrackPoint> distinct_of(const std::vector<TrackPoint>& all) {
  std::vector<double> times_s;
  for (const TrackPoint& point : all)
    times_s.push_back(point.time_s);
  std::vector<TrackPoint> points;
  for (const std::size_t i : distinct_points(times_s))
    points.push_back(all[i]);
  return points;
}

/// Returns the rate from the first point to the last; nullopt for too few points.
std::optional<Interval95> rate_of(std::span<const TrackPoint> points) {
  const std::size_t intervals = std::max<std::size_t>(1, points.size()) - 1;
  const std::size_t batches = std::min(k_most_batches, intervals);
  if (batches < k_least_batches) return std::nullopt;
  const TrackPoint& begin = points.front();
  const TrackPoint& end = points.back();
  const double mean = (end.time_s - begin.time_s) / (end.samples - begin.samples);
  // Batches have different numbers of samples, so use the variance of a ratio estimate (Cochran,
  // section 6.4).
  double squares = 0.0;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const TrackPoint& from = points[batch * intervals / batches];
    const TrackPoint& to = points[(batch + 1) * intervals / batches];
    squares += std::pow(to.time_s - from.time_s - mean * (to.samples - from.samples), 2);
  }
  const auto count = static_cast<double>(batches);
  const double samples_each = (end.samples - begin.samples) / count;
  const double error = std::sqrt(squares / (count - 1.0) / count) / samples_each;
  return Interval95{mean, student_quantile_95(count - 1.0) * error};
}

}  // namespace

void ProgressTrack::add(TrackPoint point) {
  if (!points_.empty() && (point.samples <= latest_.samples || point.time_s < latest_.time_s)) {
    return;
  }
  latest_ = point;
  if (reports_++ % stride_ != 0) return;
  points_.push_back(point);
  distinct_.reset();
  if (points_.size() < k_max_points) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2)
    points_[kept++] = points_[i];
  points_.resize(kept);
  stride_ *= 2;
}

const std::vector<TrackPoint>& ProgressTrack::distinct() const {
  if (!distinct_) distinct_ = distinct_of(points_);
  return *distinct_;
}

std::optional<Interval95> ProgressTrack::rate_since(double from_s) const {
  const std::vector<TrackPoint>& points = distinct();
  return rate_of(std::span(points).subspan(first_at(points, from_s)));
}

std::optional<Interval95> ProgressTrack::rate_of_last(double seconds, double from_s) const {
  const std::vector<TrackPoint>& points = distinct();
  const std::size_t begin = first_at(points, from_s);
  const std::size_t recent = first_at(points, latest_.time_s - seconds);
  const std::size_t ten_back = points.size() - std::min<std::size_t>(points.size(), 10 + 1);
  return rate_of(std::span(points).subspan(std::max(begin, std::min(recent, ten_back))));
}

std::optional<Deviation> ProgressTrack::deviation(const Interval95& promised, double from_s) const {
  const std::vector<TrackPoint>& points = distinct();
  const std::size_t first = first_at(points, from_s);
  if (points.size() < first + k_least_batches + 1) return std::nullopt;
  const TrackPoint& end = points.back();
  std::size_t change = first;
  double most = -1.0;
  for (std::size_t i = first; i + k_least_batches < points.size(); ++i) {
    const double samples = end.samples - points[i].samples;
    const double excess_s = end.time_s - points[i].time_s - promised.value * samples;
    if (excess_s * excess_s <= most * samples) continue;
    most = excess_s * excess_s / samples;
    change = i;
  }
  const auto rate = rate_of(std::span(points).subspan(change));
  if (!rate) return std::nullopt;
  const double errors = k_convincing_errors / k_z_95 * rate->half_width;
  const double distance = std::abs(rate->value - promised.value);
  if (distance <= std::hypot(errors, promised.half_width)) return std::nullopt;
  return Deviation{points[change], rate->value / promised.value};
}

}  // namespace steptune
