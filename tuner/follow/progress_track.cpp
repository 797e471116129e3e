// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/progress_track.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/interval.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_max_points = 1024;
constexpr std::size_t k_most_batches = 20;
constexpr std::size_t k_least_batches = 5;
constexpr std::size_t k_last_points = 10;
/// The change point is chosen among many.
constexpr double k_convincing_errors = 3.0;
/// 97.5 % points of Student's t for 4 to 19 degrees of freedom.
constexpr std::array<double, 16> k_t{2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
                                     2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093};

}  // namespace

void ProgressTrack::add(TrackPoint point) {
  if (!points_.empty() && (point.samples <= latest_.samples || point.time_s < latest_.time_s)) {
    return;
  }
  latest_ = point;
  if (reports_++ % stride_ != 0) return;
  points_.push_back(point);
  if (points_.size() < k_max_points) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2)
    points_[kept++] = points_[i];
  points_.resize(kept);
  stride_ *= 2;
}

std::size_t ProgressTrack::first_at(double from_s) const {
  const auto found = std::ranges::lower_bound(points_, from_s, {}, &TrackPoint::time_s);
  return static_cast<std::size_t>(found - points_.begin());
}

std::optional<Interval95> ProgressTrack::rate_from(std::size_t first) const {
  const std::size_t intervals = points_.size() - std::min(first + 1, points_.size());
  const std::size_t batches = std::min(k_most_batches, intervals);
  if (batches < k_least_batches) return std::nullopt;
  const TrackPoint& begin = points_[first];
  const TrackPoint& end = points_.back();
  const double mean = (end.time_s - begin.time_s) / (end.samples - begin.samples);
  // Batches hold different numbers of samples: the variance is that of a ratio (Cochran, section
  // 6.4).
  double squares = 0.0;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const TrackPoint& from = points_[first + batch * intervals / batches];
    const TrackPoint& to = points_[first + (batch + 1) * intervals / batches];
    squares += std::pow(to.time_s - from.time_s - mean * (to.samples - from.samples), 2);
  }
  const auto count = static_cast<double>(batches);
  const double samples_each = (end.samples - begin.samples) / count;
  const double error = std::sqrt(squares / (count - 1.0) / count) / samples_each;
  return Interval95{mean, k_t[batches - k_least_batches] * error};
}

std::optional<Interval95> ProgressTrack::rate_since(double from_s) const {
  return rate_from(first_at(from_s));
}

std::optional<Interval95> ProgressTrack::rate_of_last(double seconds, double from_s) const {
  const std::size_t begin = first_at(from_s);
  const std::size_t recent = first_at(latest_.time_s - seconds);
  const std::size_t ten_back = points_.size() - std::min(points_.size(), k_last_points + 1);
  return rate_from(std::max(begin, std::min(recent, ten_back)));
}

std::optional<Deviation> ProgressTrack::deviation(const Interval95& promised, double from_s) const {
  const std::size_t first = first_at(from_s);
  const std::size_t needed = first + k_least_batches + 1;
  if (points_.size() < needed) return std::nullopt;
  const TrackPoint& end = points_.back();
  std::size_t change = first;
  double most = -1.0;
  for (std::size_t i = first; i + k_least_batches < points_.size(); ++i) {
    const double samples = end.samples - points_[i].samples;
    const double excess_s = end.time_s - points_[i].time_s - promised.value * samples;
    if (excess_s * excess_s <= most * samples) continue;
    most = excess_s * excess_s / samples;
    change = i;
  }
  const auto rate = rate_from(change);
  if (!rate) return std::nullopt;
  const double errors = k_convincing_errors / k_z_95 * rate->half_width;
  const double distance = std::abs(rate->value - promised.value);
  if (distance <= std::hypot(errors, promised.half_width)) return std::nullopt;
  return Deviation{points_[change], rate->value / promised.value};
}

}  // namespace steptune
