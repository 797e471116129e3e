// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_trace.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace steptune {
namespace {

/// Largest number of points in memory while a trial runs. It exceeds the number of stored points,
/// because the later the choice of points to drop, the better.
constexpr std::size_t k_most_kept_points = 4 * k_most_trace_points;

/// Linked list of points. Removes the point that changes the curve least, until few enough are
/// left.
class PointElimination {
 public:
  PointElimination(std::span<const TracePoint> points, std::span<const double> kept_s)
      : points_(points), pinned_(points.size(), false), gone_(points.size(), false) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      before_.push_back(i == 0 ? 0 : i - 1);
      after_.push_back(i + 1);
    }
    pinned_.front() = pinned_.back() = true;
    for (const double at_s : kept_s)
      pinned_[nearest(at_s)] = true;
    for (std::size_t i = 1; i + 1 < points.size(); ++i)
      consider(i);
  }

  /// Returns the indices of the remaining points, ascending.
  [[nodiscard]] std::vector<std::size_t> reduce_to(std::size_t most) {
    std::size_t left = points_.size();
    while (left > most && !candidates_.empty()) {
      const auto [area, i] = candidates_.top();
      candidates_.pop();
      if (gone_[i] || area != area_of(i)) continue;  // a neighbour has been removed since
      gone_[i] = true;
      --left;
      after_[before_[i]] = after_[i];
      before_[after_[i]] = before_[i];
      consider(before_[i]);
      consider(after_[i]);
    }
    std::vector<std::size_t> stay;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!gone_[i]) stay.push_back(i);
    }
    return stay;
  }

 private:
  [[nodiscard]] std::size_t nearest(double at_s) const {
    const auto closer = [&](const TracePoint& a, const TracePoint& b) {
      return std::abs(a.at_s - at_s) < std::abs(b.at_s - at_s);
    };
    return static_cast<std::size_t>(std::ranges::min_element(points_, closer) - points_.begin());
  }

  void consider(std::size_t i) {
    if (!pinned_[i]) candidates_.emplace(area_of(i), i);
  }

  /// Returns twice the area of the triangle of a point and its neighbours.
  [[nodiscard]] double area_of(std::size_t i) const {
    const TracePoint& a = points_[before_[i]];
    const TracePoint& b = points_[i];
    const TracePoint& c = points_[after_[i]];
    return std::abs((b.at_s - a.at_s) * (c.samples - a.samples) -
                    (c.at_s - a.at_s) * (b.samples - a.samples));
  }

  std::span<const TracePoint> points_;
  std::vector<bool> pinned_;
  std::vector<bool> gone_;
  std::vector<std::size_t> before_;
  std::vector<std::size_t> after_;
  using Candidate = std::pair<double, std::size_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace

std::vector<TracePoint> thinned(std::vector<TracePoint> points, std::size_t most,
                                std::span<const double> kept_s) {
  if (points.size() <= std::max<std::size_t>(2, most)) return points;
  std::vector<TracePoint> result;
  for (const std::size_t i : PointElimination(points, kept_s).reduce_to(most))
    result.push_back(points[i]);
  return result;
}

void ProgressTracer::add(const Report& report) {
  if (report.phase) add_phase(report);
  if (report.samples && !samples_reported_) {
    // Earlier points count steps; later ones count samples. Start again.
    samples_reported_ = true;
    points_.clear();
    clock_ = ClockComparison();
  }
  if (samples_reported_ ? !report.samples : !report.step) return;
  const double samples = samples_reported_ ? *report.samples : *report.step * samples_per_step_;
  const double at_s = report.received_s - started_s_;
  if (!std::isfinite(samples) || !std::isfinite(at_s)) return;
  if (!points_.empty() && counter_restart_.is_seen(samples, points_.back().samples)) {
    points_.clear();
    phases_.clear();
    clock_ = ClockComparison();
  }
  if (!points_.empty() && samples <= points_.back().samples) return;
  if (open_phase_ && !(report.phase && !report.phase->seconds)) {
    open_phase_->to_s = at_s;
    phases_.push_back(*std::exchange(open_phase_, std::nullopt));
  }
  clock_.add(report.received_s, report.clock_s);
  ProgressPoint& point = points_.emplace_back();
  point.samples = samples;
  point.steps = report.step.value_or(samples / samples_per_step_);
  point.received_s = report.received_s;
  point.clock_s = report.clock_s;
  if (points_.size() >= k_most_kept_points) thin();
}

void ProgressTracer::add_phase(const Report& report) {
  const double at_s = report.received_s - started_s_;
  const auto before = std::exchange(open_phase_, std::nullopt);
  const bool ends_it = before && report.phase->seconds && before->name == report.phase->name;
  if (before && !ends_it) phases_.push_back({before->name, before->from_s, at_s});
  if (report.phase->seconds) {
    phases_.push_back({report.phase->name, at_s - *report.phase->seconds, at_s});
  } else {
    open_phase_ = TracePhase{report.phase->name, at_s, at_s};
  }
  // Drop the shortest phase if there are too many.
  if (phases_.size() <= k_most_trace_events) return;
  phases_.erase(std::ranges::min_element(
      phases_, {}, [](const TracePhase& phase) { return phase.to_s - phase.from_s; }));
}

void ProgressTracer::thin() {
  const std::vector<TracePoint> points = received();
  std::vector<ProgressPoint> kept;
  for (const std::size_t i : PointElimination(points, {}).reduce_to(k_most_kept_points / 2))
    kept.push_back(std::move(points_[i]));
  points_ = std::move(kept);
}

std::vector<TracePoint> ProgressTracer::received() const {
  std::vector<TracePoint> points;
  for (const ProgressPoint& point : points_)
    points.push_back({point.received_s - started_s_, point.samples, point.steps});
  return points;
}

ProgressTrace ProgressTracer::trace(std::span<const double> kept_s) const {
  ProgressTrace trace;
  trace.phases = phases_;
  if (open_phase_ && !points_.empty()) {
    trace.phases.push_back(*open_phase_);
    trace.phases.back().to_s =
        std::max(open_phase_->from_s, points_.back().received_s - started_s_);
  }
  std::vector<TracePoint> points = received();
  if (clock_.has_clock() && clock_.is_trusted()) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].at_s =
          points_.front().received_s - started_s_ + *points_[i].clock_s - *points_.front().clock_s;
    }
  }
  trace.points = thinned(std::move(points), k_most_trace_points, kept_s);
  return trace;
}

}  // namespace steptune
