// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_series.hpp"

#include <algorithm>
#include <utility>

namespace steptune {
namespace {

constexpr std::size_t k_max_points = 1024;
// Lines may arrive late and in bursts, but not by orders of magnitude: a clock further off counts
// in another unit, or stands still.
constexpr double k_clock_slack_s = 60.0;
constexpr double k_clock_factor = 3.0;

}  // namespace

bool ProgressSeries::add(ProgressPoint point) {
  if (size() > 0 && point.samples <= back().samples) return false;
  every_point_has_clock_ = every_point_has_clock_ && point.clock_s;
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
  // An even number of points: keep the first of each pair; the last one becomes the latest.
  latest_ = points_.back();
  for (std::size_t i = 0; 2 * i < points_.size(); ++i)
    points_[i] = std::move(points_[2 * i]);
  points_.resize((points_.size() + 1) / 2);
  since_kept_ = stride_;
  stride_ *= 2;
}

bool ProgressSeries::trusts_clock() const {
  if (!every_point_has_clock_ || size() < 2) return false;
  const double clock_s = *back().clock_s - *points_.front().clock_s;
  const double received_s = back().received_s - points_.front().received_s;
  return clock_s > 0.0 && clock_s <= k_clock_factor * received_s + k_clock_slack_s &&
         received_s <= k_clock_factor * clock_s + k_clock_slack_s;
}

std::vector<Interval> ProgressSeries::intervals() const {
  std::vector<Interval> intervals;
  if (size() < 2) return intervals;
  intervals.reserve(size() - 1);
  const bool by_clock = trusts_clock();
  for (std::size_t i = 1; i < size(); ++i) {
    const ProgressPoint& from = (*this)[i - 1];
    const ProgressPoint& to = (*this)[i];
    const double seconds = by_clock ? *to.clock_s - *from.clock_s : to.received_s - from.received_s;
    intervals.push_back({to.samples - from.samples, std::max(0.0, seconds)});
  }
  return intervals;
}

}  // namespace steptune
